"""Merchants, their API keys and their webhook secrets, and the page that creates a merchant."""

import json
import re
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.widgets import AdminTextareaWidget
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.safestring import SafeString

from payments import clock
from payments.admin.framework.base import ByMode, KahaAdmin, LookOnlyAdmin, LookOnlyInline, by
from payments.admin.framework.formats import (
    column,
    id_column,
    json_column,
    lines,
    moment_column,
    money,
    search_link,
    shown_rate,
)
from payments.admin.framework.merchant_access import limit_of
from payments.admin.framework.object_actions import form_page, shown_once
from payments.admin.framework.reason_form import OnceForm, reason_field
from payments.admin.framework.row_actions import SENT_BEFORE, RowActions
from payments.admin.merchants.actions import RemoveFee, RollWebhookSecret, SetDeclineBudget, SetFee, SetPaymentMethods
from payments.admin.merchants.api_keys import IssueKey, RevokeKey, RollKey
from payments.context import because
from payments.domain.merchants.merchants import MODES, check_statement_descriptor, create_merchant
from payments.ids import public_id
from payments.ledger.balances import balances_of
from payments.ledger.fees import rate_of
from payments.models import ApiKey, Charge, Event, Merchant, Posting, Settlement, Source, Webhook, WebhookSecret

FACTS = [
    ("What happens", "It works at once. Its keys and webhook secrets are shown this once."),
    (
        "Its secret live key",
        "Issue it on the merchant's page when it is made: another person approves it, because it moves real money.",
    ),
]
ROWS = (Charge, Source, Settlement, Posting, Event, Webhook)


class NewMerchantForm(OnceForm):
    title = forms.CharField(max_length=100)
    account_name = forms.CharField(max_length=100, required=False, help_text="Empty: the title.")
    statement_descriptor = forms.CharField(
        max_length=100,
        required=False,
        validators=[check_statement_descriptor],
        help_text="What payers read on their card statement. Empty: what is plain of the account name.",
    )


class Branding(forms.JSONField):
    """The look of the merchant's pages as the JSON object that `/v2/me` shows: URLs and colours."""

    widget = AdminTextareaWidget
    forms_of_members = {
        **dict.fromkeys(("icon", "logo"), re.compile(r'"https://[^"\\s\\\\]{1,2000}"')),
        "use_logo": re.compile("true|false"),
        **dict.fromkeys(("brand_color", "accent_color"), re.compile('"#[0-9a-fA-F]{6}"')),
    }

    def clean(self, value: Any) -> dict[str, Any]:
        cleaned = super().clean(value) or {}
        if not isinstance(cleaned, dict) or not all(self._is_valid(name, cleaned[name]) for name in cleaned):
            message = (
                'This must be a JSON object of "icon" and "logo" (https URLs), "use_logo" (true or false), '
                '"brand_color" and "accent_color" (such as "#1a73e8").'
            )
            raise forms.ValidationError(message, code="invalid")
        return cleaned

    def _is_valid(self, name: str, value: Any) -> bool:
        form = self.forms_of_members.get(name)
        return form is not None and form.fullmatch(json.dumps(value)) is not None


class MerchantForm(forms.ModelForm):
    statement_descriptor = forms.CharField(max_length=100, validators=[check_statement_descriptor])
    branding = Branding(required=False)
    reason = reason_field()

    class Meta:
        model = Merchant
        fields = ("title", "account_name", "statement_descriptor", "status", "branding", "business_address")


class KeyColumns:
    """The columns of a key, on its own page and on its merchant's."""

    granted = column(
        "Rights", lambda key: lines(key.rights) if key.kind == ApiKey.Kind.RESTRICTED else f"all of a {key.kind} key"
    )
    allows_address = column(
        "Works from", lambda key: lines(key.allowed_networks) if key.allowed_networks else "everywhere"
    )
    last_used = moment_column("last_used_at")
    revoked = moment_column("revoked_at")


class KeysOfMerchant(KeyColumns, LookOnlyInline):
    model = ApiKey
    verbose_name_plural = "API keys"
    fields = ("kind", "mode", "granted", "allows_address", "created", "last_used", "expires", "revoked")
    ordering = ("-pk",)


@admin.register(Merchant)
class MerchantAdmin(RowActions, KahaAdmin):
    """Merchants: Django's form changes names and status, and row actions change all else."""

    merchant_lookup = "pk"
    row_actions = (IssueKey(), SetFee(), RemoveFee(), SetPaymentMethods(), SetDeclineBudget(), RollWebhookSecret())
    form = MerchantForm
    list_display = ("title", "public_id", "account_name", "statement_descriptor", "status", "created")
    list_filter = ("status",)
    search_fields = ("title", "account_name", "statement_descriptor", "=keys__last4")
    uuid_lookups = {"mer": ("pk",), "key": ("keys__pk",)}
    fieldsets = (
        (None, {"fields": ("public_id", "title", "account_name", "statement_descriptor", "status")}),
        ("Related", {"fields": ("rows", "created", "updated")}),
        ("Profile", {"fields": ("branding", "business_address")}),
        ("Money", {"fields": ("balances", "fees")}),
        ("Terms", {"fields": ("payment_methods", "decline_budget", "payouts", "shown_metadata")}),
    )
    readonly_fields = (
        "public_id",
        "rows",
        "created",
        "updated",
        "balances",
        "fees",
        "payment_methods",
        "decline_budget",
        "payouts",
        "shown_metadata",
    )
    inlines = (KeysOfMerchant,)
    public_id = id_column("mer")
    payment_methods = json_column("payment_method_settings")
    payouts = json_column("payout_settings")
    shown_metadata = json_column("metadata")
    balances = column(
        "Balances",
        lambda merchant: lines(
            f"{mode}: {money(balance.available, currency)} available, {money(balance.pending, currency)} pending, "
            f"{money(balance.held, currency)} held"
            for mode, livemode in MODES.items()
            for currency, balance in balances_of(merchant.id, livemode).items()
        ),
    )
    fees = column(
        "Fees",
        lambda merchant: lines(
            f"{source_type} in {currency}: {shown_rate(rate_of(merchant.rates, source_type, currency), currency)}"
            for source_type, by_currency in merchant.rates.items()
            for currency in by_currency
        ),
    )

    def has_delete_permission(self, request: HttpRequest, obj: Merchant | None = None) -> bool:
        return False

    def get_fieldsets(self, request: HttpRequest, obj: Merchant | None = None) -> Any:
        why = [("Why", {"fields": ("reason",)})] if self.has_change_permission(request, obj) else []
        return [*super().get_fieldsets(request, obj), *why]

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        with because(request.POST.get("reason", "")):
            return super().changeform_view(request, *args, **kwargs)

    def construct_change_message(self, request: HttpRequest, form: Any, formsets: Any, add: bool = False) -> Any:
        changed = super().construct_change_message(request, form, formsets, add)
        return [name for name in changed if name != "reason"]

    def save_model(self, request: HttpRequest, obj: Merchant, form: forms.ModelForm, change: bool) -> None:
        obj.updated_at = clock.now()
        super().save_model(request, obj, form, change)

    @admin.display(description="See")
    def rows(self, merchant: Merchant) -> SafeString | str:
        term = public_id("mer", merchant.id)
        return lines(search_link(model, term, f"its {model._meta.verbose_name_plural}") for model in ROWS)

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
        shown = {"ID": public_id("mer", made.merchant.pk), **made.keys, **made.webhook_secrets}
        page = reverse("admin:payments_merchant_change", args=[made.merchant.pk])
        return shown_once(request, self, f"New merchant: {made.merchant}", shown, page)


ByKeyState = by("state", working=("Not revoked", Q(revoked_at=None)), revoked=("Revoked", Q(revoked_at__isnull=False)))


@admin.register(ApiKey)
class ApiKeyAdmin(KeyColumns, RowActions, LookOnlyAdmin):
    merchant_lookup = "merchant"
    row_actions = (RollKey(), RevokeKey())
    list_display = ("shown", "public_id", "merchant", "kind", "mode", "created", "last_used", "expires", "revoked")
    list_filter = (ByKeyState, ByMode, "kind")
    list_select_related = ("merchant",)
    search_fields = ("merchant__title", "=last4")
    uuid_lookups = {"key": ("pk",), "mer": ("merchant_id",)}
    fieldsets = (
        (None, {"fields": ("shown", "public_id", "of_merchant", "kind", "mode", "public_text")}),
        ("Limits", {"fields": ("granted", "allows_address")}),
        ("Times", {"fields": ("created", "last_used", "expires", "revoked")}),
    )
    public_id = id_column("key")
    shown = column("Key", str)


@admin.register(WebhookSecret)
class WebhookSecretAdmin(LookOnlyAdmin):
    """Webhook secrets with their times; the secrets themselves stay encrypted."""

    merchant_lookup = "merchant"
    list_display = ("secret_id", "merchant", "mode", "created", "expires")
    list_filter = (ByMode,)
    list_select_related = ("merchant",)
    search_fields = ("merchant__title",)
    uuid_lookups = {"": ("pk",), "mer": ("merchant_id",)}
    fieldsets = ((None, {"fields": ("secret_id", "of_merchant", "mode", "created", "expires")}),)
    secret_id = column("ID", lambda secret: secret.id.hex)
