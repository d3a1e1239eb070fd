"""The page that creates a merchant, and shows its keys and secrets once."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from payments.admin.framework.merchant_access import limit_of
from payments.admin.framework.object_actions import form_page, shown_once
from payments.admin.framework.reason_form import OnceForm
from payments.admin.framework.row_actions import SENT_BEFORE
from payments.context import because
from payments.domain.merchants.merchants import NewMerchant, check_statement_descriptor, create_merchant
from payments.ids import public_id
from payments.models import Merchant

FACTS = [
    ("What happens", "It works at once. Its keys and webhook secrets are shown this once."),
    (
        "Its secret live key",
        "Issue it on the merchant's page when it is made: another person approves it, because it moves real money.",
    ),
]


class NewMerchantForm(OnceForm):
    title = forms.CharField(max_length=100)
    account_name = forms.CharField(max_length=100, required=False, help_text="Empty: the title.")
    statement_descriptor = forms.CharField(
        max_length=100,
        required=False,
        validators=[check_statement_descriptor],
        help_text="What payers read on their card statement. Empty: what is plain of the account name.",
    )


class MerchantCreation(admin.ModelAdmin):
    """The page that creates a merchant, in place of Django's."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return limit_of(request) is None and super().has_add_permission(request)

    def add_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = NewMerchantForm(request.POST or None)
        answer = self._made(request, form) if form.is_valid() else None
        return answer or form_page(request, self, "New merchant", FACTS, form, [("make", "Create the merchant")])

    def _made(self, request: HttpRequest, form: NewMerchantForm) -> HttpResponse | None:
        """Create the merchant and return the page with its secrets; None after a refusal, which the form then shows."""
        said = form.cleaned_data
        if Merchant.objects.filter(pk=said["row_id"]).exists():
            self.message_user(request, SENT_BEFORE, messages.WARNING)
            return redirect("admin:payments_merchant_change", said["row_id"])
        try:
            with because(said["reason"]):
                made = create_merchant(
                    said["title"],
                    said["account_name"],
                    said["statement_descriptor"],
                    said["row_id"],
                    with_secret_live_key=False,
                )
        except ValidationError as fault:
            form.add_error(None, fault.messages)
            return None
        return shown_once(request, self, f"New merchant: {made.merchant}", _secrets_of(made), _page_of(made.merchant))


def _secrets_of(made: NewMerchant) -> dict[str, str]:
    return {"ID": public_id("mer", made.merchant.pk), **made.keys, **made.webhook_secrets}


def _page_of(merchant: Merchant) -> str:
    return reverse("admin:payments_merchant_change", args=[merchant.pk])
