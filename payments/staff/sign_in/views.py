"""What our own pages for one operator have in common."""

from typing import Any, cast

from django.contrib.auth.models import User
from django.contrib.auth.views import RedirectURLMixin
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils.decorators import method_decorator
from django.utils.functional import Promise
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.generic.base import ContextMixin, View

from payments.admin.lists.mode import is_own_path
from payments.staff.sites import site_of


class AdminPage(RedirectURLMixin, ContextMixin, View):
    """A page in the admin's layout, never cached, which passes on the address to return to."""

    next_page = "admin:index"
    title: str | Promise = ""

    def get_redirect_url(self, request: HttpRequest | None = None) -> str:
        given = self.request.POST.get("next", self.request.GET.get("next", ""))
        return given if is_own_path(given) else ""

    @method_decorator([never_cache, sensitive_post_parameters()])
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return super().dispatch(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        page = site_of(self.request).each_context(self.request) | {"title": self.title, "next": self.get_success_url()}
        return super().get_context_data(**page | kwargs)


class PersonalPage(AdminPage):
    """A page for the signed-in operator, `reader`; others are redirected to the sign-in."""

    reader: User

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not site_of(request).has_permission(request):
            return redirect("admin:login")
        self.reader = cast(User, request.user)
        return super().dispatch(request, *args, **kwargs)
