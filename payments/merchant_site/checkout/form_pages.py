"""The pages on which a merchant's people make a link, a request or a session, with what its payer will see."""

from collections.abc import Callable, Mapping
from typing import Any, Final
from uuid import UUID

from csp.constants import SELF
from csp.decorators import csp, csp_update
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.clickjacking import xframe_options_sameorigin

from payments.admin.framework.formats import copyable
from payments.admin.framework.object_actions import ActionButton, form_page
from payments.admin.lists.mode import mode_of
from payments.merchant_site.checkout.forms import NewForm
from payments.merchant_site.site import merchant_of
from payments.pages.payment import shown_merchant
from payments.pages.responses import POLICY, page

SENT_BEFORE = _("This form was sent before. Here is what it made.")
MORE: Final = "more"
BUTTONS: Any = [("make", _("Create"))]
# Nothing of a preview can be sent, and no script runs in it.
PREVIEW = POLICY | {"frame-ancestors": [SELF], "sandbox": True}
UNREADY = {"title": _("What the payer will see"), "text": _("It is shown here once the form is filled in.")}


class Makes(admin.ModelAdmin):
    """A page whose rows are made by the forms `makes`, by the words of their addresses."""

    makes: Mapping[str, type[NewForm]] = {}

    def address_of(self, row: Any) -> str:
        """Return the address at which the payer of `row` pays."""
        raise NotImplementedError

    def get_urls(self) -> list[URLPattern]:
        ours = [path(f"new-{name}/", self._view(self.make, name), name=self._name(name)) for name in self.makes]
        shown: Any = csp(PREVIEW)
        for name in self.makes:
            view = xframe_options_sameorigin(shown(self._view(self.preview, name)))
            ours.append(path(f"new-{name}/preview/", view, name=f"{self._name(name)}_preview"))
        return [*ours, *super().get_urls()]

    def beside_list(self, request: HttpRequest) -> dict[str, Any]:
        offered = [(name, form) for name, form in self.makes.items() if request.user.has_perm(form.permission)]
        return {"acts": [ActionButton(form.title, reverse(f"admin:{self._name(name)}")) for name, form in offered]}

    def make(self, request: HttpRequest, name: str) -> HttpResponse:
        """Show the form, or make what it asks for and lead to its page."""
        merchant = merchant_of(request)
        if request.method != "POST":
            return self._ask(request, name, self.makes[name].blank(merchant, mode_of(request)))
        form = self.makes[name](merchant, request.POST)
        if request.POST.get("decision") == MORE:
            return self._ask(request, name, form.with_more_rows())
        made = form.make() if form.is_valid() else None
        return self._made(request, *made) if made else self._ask(request, name, form)

    def preview(self, request: HttpRequest, name: str) -> HttpResponse:
        """Show the payer's page of what the form asks for; nothing is made."""
        merchant, vars(request)["is_preview"] = merchant_of(request), True
        form = self.makes[name](merchant, request.POST or None)
        return form.show(request) if form.is_valid() else page(request, "unready", shown_merchant(merchant) | UNREADY)

    def _view(self, view: Callable[..., HttpResponse], name: str) -> Callable[..., Any]:
        def asked(request: HttpRequest) -> HttpResponse:
            if not request.user.has_perm(self.makes[name].permission):
                raise PermissionDenied
            return view(request, name)

        return self.admin_site.admin_view(asked)

    def _ask(self, request: HttpRequest, name: str, form: NewForm) -> HttpResponse:
        preview = reverse(f"admin:{self._name(name)}_preview")
        seen = {"title": form.title, "form": form, "buttons": BUTTONS, "mode": form["mode"].value()}
        shown: Any = form_page(request, self, None, seen | {"about": form.about, "preview": preview})
        shown.template_name = "merchant/make.html"
        framed: Any = csp_update({"frame-src": [SELF]})
        return framed(lambda _: shown)(request)

    def _made(self, request: HttpRequest, public: str, is_new: bool) -> HttpResponse:
        pk = UUID(hex=public.partition("_")[2])
        made = get_object_or_404(self.get_queryset(request), pk=pk)
        words = format_html(gettext("Created. Its address: {}"), copyable(self.address_of(made)))
        level = messages.SUCCESS if is_new else messages.WARNING
        self.message_user(request, words if is_new else SENT_BEFORE, level)
        return redirect(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", pk)

    def _name(self, name: str) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_new_{name}"
