from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.contrib.admin import AdminSite
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, URLResolver, path

from payments.staff.sign_in import views

# The navigation: models grouped by task instead of by app.
GROUPS: Mapping[str, Sequence[str]] = {
    "Payments": (
        "payments.charge",
        "payments.checkout",
        "payments.paymentlink",
        "payments.refund",
        "payments.dispute",
        "customers.customer",
        "payments.source",
    ),
    "Needs attention": (
        "payments.case",
        "payments.approvalrequest",
        "payments.operatoraction",
        "payments.unknownoutcome",
        "payments.correction",
        "payments.webhook",
        "payments.providermessage",
        "payments.reconciliationitem",
        "payments.declinealert",
    ),
    "Merchants": (
        "payments.merchant",
        "payments.apikey",
        "payments.webhookendpoint",
        "payments.webhooksecret",
        "payments.feetemplate",
        "payments.payoutaccount",
        "payments.provideraccount",
        "payments.route",
        "payments.block",
    ),
    "Month-end": (
        "payments.statement",
        "payments.ledgerday",
        "payments.account",
        "payments.settlement",
        "payments.payoutschedule",
        "payments.payout",
        "payments.payoutfile",
        "payments.reportupload",
        "payments.reconciliationrun",
        "payments.reportline",
    ),
    "Records": (
        "payments.event",
        "payments.payermessage",
        "payments.posting",
        "payments.attempt",
        "payments.idempotencyrecord",
        "payments.card",
        "payments.binrange",
    ),
    "People": ("payments.auditentry", "auth.user", "payments.approvallimit", "payments.merchantaccess"),
    "Service": ("payments.moneycheck", "payments.datakey"),
    "Simulator": (
        "simulator.simulatedpayment",
        "simulator.simulatedoperation",
        "simulator.simulatedpayout",
        "simulator.entry",
        "simulator.message",
    ),
}
# Django's own names of these models are not ours.
NAMES = {"auth.user": "Operators"}
OTHER = "Other"
PLACES = {label: (group, place) for group, labels in GROUPS.items() for place, label in enumerate(labels)}
NOWHERE = (OTHER, 0)


def grouped(apps: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return Django's list of apps regrouped by GROUPS; models without a group come last."""
    models = [model | {"name": _name(model)} for app in apps for model in app["models"]]
    models.sort(key=lambda model: _place(model)[1])
    groups = ((name, [model for model in models if _place(model)[0] == name]) for name in (*GROUPS, OTHER))
    return [{"name": name, "models": found} for name, found in groups if found]


def _place(model: Mapping[str, Any]) -> tuple[str, int]:
    return PLACES.get(_label(model), NOWHERE)


def _name(model: Mapping[str, Any]) -> Any:
    return NAMES.get(_label(model), model.get("name"))


def _label(model: Mapping[str, Any]) -> str:
    return str(model["model"]._meta.label_lower)


class StaffSite(AdminSite):
    """Django's admin site for users who signed in with a second factor, unless ADMIN_MFA is off."""

    # The navigation is in the page header, on phones too.
    enable_nav_sidebar = False
    models: Mapping[type[Model], None] = {}

    def register(self, model_or_iterable: Any, *args: Any, **named: Any) -> None:
        super().register(model_or_iterable, *args, **named)
        models = [model_or_iterable] if isinstance(model_or_iterable, type) else model_or_iterable
        self.models = {**self.models, **dict.fromkeys(models)}

    def pages(self) -> list[Any]:
        """Return the page of each registered model, in the order of registration."""
        return [self.get_model_admin(model) for model in self.models if self.is_registered(model)]

    def has_permission(self, request: HttpRequest) -> bool:
        user: Any = request.user
        return super().has_permission(request) and (not settings.ADMIN_MFA or user.is_verified())

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if request.method == "GET" and self.has_permission(request):
            return redirect("admin:index")
        answer: Any = views.PasswordView.as_view(extra_context=extra_context)(request)
        return answer

    def get_urls(self) -> list[URLPattern | URLResolver]:
        # It searches the pages that register with this site, so it is imported after them.
        from payments.admin.inbox import inbox
        from payments.admin.lists.mode import switch_mode
        from payments.admin.maintenance.on_call import on_call
        from payments.staff.admin_site.search_page import find
        from payments.staff.notifications import NotificationsView
        from payments.staff.preferences import PreferencesView
        from payments.staff.sign_in.invitation import InvitationView

        ours: list[URLPattern | URLResolver] = [
            path("second-factor/", views.SecondFactorView.as_view(), name="second_factor"),
            path("enrol/", views.EnrolView.as_view(), name="enrol"),
            path("recovery-codes/", views.RecoveryCodesView.as_view(), name="recovery_codes"),
            path("factors/", views.FactorsView.as_view(), name="factors"),
            path("invitation/<str:token>/", InvitationView.as_view(), name="invitation"),
            path("preferences/", PreferencesView.as_view(), name="preferences"),
            path("inbox/", self.admin_view(inbox), name="inbox"),
            path("on-call/", self.admin_view(on_call), name="on_call"),
            path("notifications/", NotificationsView.as_view(), name="notifications"),
            path("find/", self.admin_view(find), name="find"),
            path("mode/", self.admin_view(switch_mode), name="mode"),
        ]
        return [*ours, *super().get_urls()]

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        apps = super().get_app_list(request, app_label)
        return apps if app_label else grouped(apps)

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        # It reads models, which are loaded after this site.
        from payments.admin.lists.mode import MODES, mode_of

        modes = {"modes": tuple(MODES), "chosen_mode": mode_of(request)} if self.has_permission(request) else {}
        return super().each_context(request) | {"has_second_factors": settings.ADMIN_MFA} | modes
