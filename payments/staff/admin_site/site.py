from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib.admin import AdminSite
from django.db.models import Model
from django.http import HttpRequest, HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import URLPattern, URLResolver, path

from payments.staff.admin_site.navigation import SECTIONS, Section, navigation
from payments.staff.sign_in import factors


class PeopleSite(AdminSite):
    """One of Django's admin sites for users who signed in with a second factor, unless ADMIN_MFA is off.

    Its addresses begin with `prefix`; the names of its settings begin with `setting_prefix`.
    """

    prefix: str
    setting_prefix: str
    is_for_operators: bool
    sections: Mapping[str, Sequence[Section]]
    # The navigation is in the page header, on phones too.
    enable_nav_sidebar = False
    models: Mapping[type[Model], None] = {}

    @property
    def urlconf(self) -> str:
        """Return the module of its addresses."""
        return str(settings.ROOT_URLCONF)

    def setting(self, name: str) -> str:
        """Return one of this site's own settings, such as HOST, ORIGIN and PASSKEY_HOST."""
        value: str = getattr(settings, f"{self.setting_prefix}_{name}")
        return value

    def register(self, model_or_iterable: Any, *args: Any, **named: Any) -> None:
        super().register(model_or_iterable, *args, **named)
        models = [model_or_iterable] if isinstance(model_or_iterable, type) else model_or_iterable
        self.models = {**self.models, **dict.fromkeys(models)}

    def pages(self) -> list[Any]:
        """Return the page of each registered model, in the order of registration."""
        return [self.get_model_admin(model) for model in self.models if self.is_registered(model)]

    def admits(self, request: HttpRequest) -> bool:
        """Return whether the user is one of those whom this site is for."""
        return super().has_permission(request)

    def has_permission(self, request: HttpRequest) -> bool:
        return self.admits(request) and self.is_signed_in(request)

    def is_signed_in(self, request: HttpRequest) -> bool:
        """Return whether this session has given all factors, also of users who are not for this site."""
        is_known: bool = request.user.is_authenticated
        return is_known and (not settings.ADMIN_MFA or factors.in_use(request) is not None)

    def holder_of(self, request: HttpRequest) -> Hashable:
        """Return who holds a place that several share for the person who is signed in: on this site, they alone."""
        return request.user.pk

    def refusal_of(self, request: HttpRequest) -> HttpResponseBase | None:
        """Return the answer to a form that must not be acted on, None for any other request."""
        return None

    def get_urls(self) -> list[URLPattern | URLResolver]:
        # It searches the pages that register with this site, so it is imported after them.
        from payments.admin.lists.mode import switch_mode
        from payments.staff.admin_site.search_page import find
        from payments.staff.preferences import PreferencesView
        from payments.staff.sign_in.invitation import InvitationView

        ours: list[URLPattern | URLResolver] = [
            path("invitation/<str:token>/", InvitationView.as_view(), name="invitation"),
            path("preferences/", PreferencesView.as_view(), name="preferences"),
            path("find/", self.admin_view(find), name="find"),
            path("mode/", self.admin_view(switch_mode), name="mode"),
        ]
        # Django's way from a row to its page elsewhere takes any number for a kind of row, and no row of ours has one.
        return [*ours, *(each for each in super().get_urls() if getattr(each, "name", "") != "view_on_site")]

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        # The navigation takes the place of the list of all apps, which costs a third of a page.
        return super().get_app_list(request, app_label) if app_label else []

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        shown: dict[str, Any] = {"has_second_factors": settings.ADMIN_MFA, "has_mail": bool(settings.EMAIL_HOST)}
        shown["is_for_operators"] = self.is_for_operators
        return super().each_context(request) | shown | (self.frame(request) if self.has_permission(request) else {})

    def frame(self, request: HttpRequest) -> dict[str, Any]:
        """Return what stands around every page for somebody who is signed in."""
        # It reads models, which are loaded after this site.
        from payments.admin.lists.mode import MODES, mode_of

        return {
            "modes": tuple(MODES),
            "chosen_mode": mode_of(request),
            "navigation": navigation(self.sections, self.pages(), request),
        }


class StaffSite(PeopleSite):
    """The back office: the site of operators."""

    prefix, setting_prefix, sections = "/admin/", "ADMIN", SECTIONS
    is_for_operators = True

    def get_urls(self) -> list[URLPattern | URLResolver]:
        from payments.admin.inbox import inbox
        from payments.admin.maintenance.on_call import on_call
        from payments.staff.notifications import NotificationsView

        ours: list[URLPattern | URLResolver] = [
            path("inbox/", self.admin_view(inbox), name="inbox"),
            path("on-call/", self.admin_view(on_call), name="on_call"),
            path("notifications/", NotificationsView.as_view(), name="notifications"),
        ]
        return [*ours, *super().get_urls()]

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        from payments.admin.inbox import home

        return super().index(request, home(request) | (extra_context or {}))

    def frame(self, request: HttpRequest) -> dict[str, Any]:
        from payments.admin.inbox import open_entries

        return super().frame(request) | {"open_entries": partial(open_entries, request)}
