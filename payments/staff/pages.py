"""Base classes for the pages of the sign-in."""

from typing import Any, cast

from django.contrib import admin
from django.contrib.auth.models import User
from django.contrib.auth.views import RedirectURLMixin
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.generic.base import ContextMixin, View


class AdminPage(RedirectURLMixin, ContextMixin, View):
    """A page in the admin's layout, never cached, which passes on the address to return to."""

    next_page = "admin:index"
    title = ""

    @method_decorator([never_cache, sensitive_post_parameters()])
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return super().dispatch(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        page = admin.site.each_context(self.request) | {"title": self.title, "next": self.get_success_url()}
        return super().get_context_data(**page | kwargs)

    def onward(self, name: str) -> HttpResponse:
        """Redirect to another of these pages, with the address to return to."""
        return redirect(f"{reverse(name)}?{urlencode({'next': self.get_success_url()})}")


class PersonalPage(AdminPage):
    """A page for one user, `reader`; others are redirected to the sign-in."""

    reader: User

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        reader = self.reader_of(request)
        if reader is None:
            return redirect("admin:login")
        self.reader = reader
        return super().dispatch(request, *args, **kwargs)

    def reader_of(self, request: HttpRequest) -> User | None:
        """Return the user whom the page is for, by default the signed-in one; None to redirect to the sign-in."""
        return cast(User, request.user) if admin.site.has_permission(request) else None
