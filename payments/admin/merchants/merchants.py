"""Merchants, their API keys and their webhook secrets, and the page that creates a merchant."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import flatten_fieldsets
from django.core.exceptions import ValidationError
from django.db.models import Model, Q
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments import clock
from payments.admin.columns import state_column
from payments.admin.facts import seen_groups
from payments.admin.framework.actions import Action, Done, Result
from payments.admin.framework.base import BaseAdmin, ReadOnlyInline, never
from payments.admin.framework.filters import ByMode, by
from payments.admin.framework.formats import chip, column, copyable, id_column, lines, money, search_link, short_id
from payments.admin.framework.id_search import IdSearch
from payments.admin.framework.merchant_access import limit_of
from payments.admin.framework.object_actions import ActionButton, Facts, address_of
from payments.admin.merchants.actions import (
    MoveCustomers,
    RollWebhookSecret,
    SendTestEvent,
    SetDeclineBudget,
    SetPaymentMethods,
    method_lines,
)
from payments.admin.merchants.api_keys import SECRET_NAMES, IssueKey, RevokeKey, RollKey, SetOrigins
from payments.admin.merchants.checklist import PERIOD_DAYS, checklist, dispute_lines, health
from payments.admin.merchants.fees import SetFees, fee_table
from payments.admin.merchants.merchant_form import MerchantForm, NewMerchantForm, brand_preview
from payments.admin.merchants.pictures import SetPicture, pictures_of
from payments.admin.operators.call_words import rule_words
from payments.admin.payouts import of_merchant
from payments.admin.payouts.accounts import SetPayoutAccount
from payments.admin.payouts.schedules import SetPayoutSchedule
from payments.admin.webhooks.endpoints import AddEndpoint, endpoint_lines
from payments.context import because
from payments.domain.audit import notices
from payments.domain.merchants.merchants import MODES, create_merchant
from payments.ids import public_id
from payments.ledger.balances import balances_of
from payments.models import ApiKey, Charge, Event, Merchant, Posting, Settlement, Source, Webhook, WebhookSecret
from payments.search import find

ROWS = (Charge, Source, Settlement, Posting, Event, Webhook)
UPLOAD = '<a href="{}">{}</a>'


class KeyColumns:
    """The columns of a key, on its own page and on its merchant's."""

    granted = column(
        _("Rights"),
        lambda key: (
            lines(key.rights) if key.kind in ApiKey.LIMITED else gettext("all of a {kind} key").format(kind=key.kind)
        ),
    )
    asks_for = column(_("May ask for"), lambda key: lines(rule_words(key.rules)) if key.rules else gettext("nothing"))
    allows_address = column(
        _("Works from"), lambda key: lines(key.allowed_networks) if key.allowed_networks else gettext("everywhere")
    )
    origins = column(
        _("Origins"), lambda key: lines(key.allowed_origins) if key.allowed_origins else gettext("no list")
    )


class KeysOfMerchant(KeyColumns, ReadOnlyInline):
    model = ApiKey
    fields = ("name", "kind", "mode", "granted", "allows_address", "last_used", "expires", "revoked")
    ordering = ("-pk",)


class MakeMerchant(Action):
    name, label, button = "make", "New merchant", "Create the merchant"
    permission = "payments.add_merchant"
    form = NewMerchantForm
    is_new = is_for_all_merchants = True
    refusals = (ValidationError,)
    makes = (Merchant,)

    def buttons_above(self, page: Any, request: HttpRequest) -> list[ActionButton]:
        """Return none: Django's list has the button."""
        return []

    def facts(self, row: Any) -> Facts:
        yield "What happens", "It works at once. Its keys and webhook secrets are shown this once."
        yield (
            "Its secret live key",
            "Issue it on the merchant's page when it is made: an administrator other than you approves it, because it "
            "moves real money.",
        )

    def do(self, row: Any, cleaned: dict[str, Any]) -> Done:
        names = (cleaned[name] for name in ("title", "account_name", "statement_descriptor", "row_id"))
        made = create_merchant(*names, with_secret_live_key=False)
        shown = {SECRET_NAMES[name]: text for name, text in {**made.keys, **made.webhook_secrets}.items()}
        return Result(f"New merchant: {made.merchant}", made.merchant, secrets=shown)


@admin.register(Merchant)
class MerchantAdmin(BaseAdmin):
    """Merchants: Django's form changes the profile and status, and row actions change all else."""

    is_edited = True
    merchant_lookup = "pk"
    has_delete_permission = never
    row_actions: Sequence[Action] = (
        MakeMerchant(),
        IssueKey(),
        SetFees(),
        SetPaymentMethods(),
        SetDeclineBudget(),
        AddEndpoint(),
        SendTestEvent(),
        RollWebhookSecret(),
        SetPayoutAccount(),
        SetPayoutSchedule(),
        SetPicture(),
        MoveCustomers(),
    )
    form = MerchantForm
    stored_fields: Sequence[str] = MerchantForm.Meta.fields
    noticed_fields = ("account_name", "statement_descriptor", "status")
    list_display = ("title", "account_name", "statement_descriptor", "shown_status", "created")
    file_columns = ("title", "public_id", "account_name", "statement_descriptor", "status", "created")
    list_filter = ("status",)
    search_fields = ("title", "account_name", "statement_descriptor", "=keys__last4")
    search = IdSearch({"mer": "pk", "key": "keys__pk"}, entries=find.merchants)
    head_columns = (*BaseAdmin.head_columns, "title", "status")
    fieldsets = (
        ("How it goes", {"fields": ("steps", "last_days", "disputes")}),
        ("Money", {"fields": ("balances", "fees")}),
        (
            "Profile",
            {"fields": ("public_id", "title", "account_name", "statement_descriptor", "status", "business_address")},
        ),
        ("Payouts", {"fields": ("payout_accounts", "payout_schedules", "last_payouts")}),
        ("Payers", {"fields": ("support_email", "support_phone", "send_receipts", "pictures", "preview")}),
        ("Terms", {"fields": ("payment_methods", "decline_budget")}),
        ("Developers", {"fields": ("endpoints", "kept_bodies", "shown_metadata")}),
        ("Related", {"fields": ("rows",)}),
        ("Times", {"fields": ("created", "updated")}),
    )
    readonly_fields = [name for name in flatten_fieldsets(fieldsets) if name not in MerchantForm.base_fields]
    inlines = (KeysOfMerchant,)
    public_id = id_column("mer")
    shown_status = state_column("status", {"active": "good"})
    payment_methods = column(_("Payment methods"), lambda merchant: lines(method_lines(merchant)))
    endpoints = column("Webhook endpoints", endpoint_lines)
    payout_accounts = column("Bank accounts", of_merchant.accounts)
    payout_schedules = column("Schedules", of_merchant.schedules)
    last_payouts = column("Last payouts", of_merchant.payouts)
    balances = column("Balances", lambda merchant: lines(_balances(merchant)))
    fees = column(_("Fees"), lambda merchant: fee_table(merchant.rates))
    steps = column("Checklist", checklist)
    last_days = column(f"Last {PERIOD_DAYS} days", health)
    disputes = column("Card disputes by month", dispute_lines)
    pictures = column(_("Logo and icon"), lambda merchant: lines(shown for _name, shown in pictures_of(merchant)))
    preview = column("Preview", brand_preview)

    def headline(self, row: Merchant) -> str:
        return f"{row}"

    def get_fieldsets(self, request: HttpRequest, obj: Merchant | None = None) -> Any:
        upload = obj and format_html(UPLOAD, address_of(self, SetPicture.name, obj.pk), _("Upload a logo or an icon"))
        brand = {"fields": MerchantForm.branding_fields, "description": upload or ""}
        typed = [(_("Brand"), brand), (None, {"fields": ("reason",)})]
        typed = seen_groups(typed, partial(self.policy.sees, self)) if self.has_change_permission(request, obj) else []
        return [*super().get_fieldsets(request, obj), *typed]

    def changeform_view(self, request: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        with because(request.POST.get("reason", "")):
            return super().changeform_view(request, *args, **kwargs)

    def save_model(self, request: HttpRequest, obj: Merchant, form: Any, change: bool) -> None:
        if not {*form.changed_data} - {"reason"}:
            return
        obj.updated_at = clock.now()
        row = Merchant.objects.select_for_update(no_key=True).get(pk=obj.pk)
        obj.branding = form.branding_on(row.branding)
        # By name, so that what others change meanwhile stays.
        obj.save(update_fields=[*self.stored_fields, "branding", "updated_at"])

    def log_change(self, request: HttpRequest, obj: Model, message: Sequence[str]) -> Any:
        super().log_change(request, obj, message)
        if changes := [notices.Change(name) for name in self.noticed_fields if name in message]:
            notices.notify_merchant(obj.pk, *changes)

    @admin.display(description="See")
    def rows(self, merchant: Merchant) -> SafeString | str:
        term = public_id("mer", merchant.id)
        return lines(search_link(model, term, f"its {model._meta.verbose_name_plural}") for model in ROWS)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return limit_of(request) is None and super().has_add_permission(request)


def offered_on_merchants(act: type[Action]) -> type[Action]:
    """Have the page of a merchant offer `act` too, and return it."""
    MerchantAdmin.row_actions = (*MerchantAdmin.row_actions, act())
    return act


def _balances(merchant: Merchant) -> Iterator[str]:
    """Yield a line for each mode and currency with money in it."""
    for mode, livemode in MODES.items():
        for currency, balance in balances_of(merchant.id, livemode).items():
            parts = [f"{money(amount, currency)} {name}" for name, amount in asdict(balance).items() if amount]
            if parts:
                yield f"{mode}: {', '.join(parts)}"


ByKeyState = by(
    "state", working=(_("Not revoked"), Q(revoked_at=None)), revoked=(_("Revoked"), Q(revoked_at__isnull=False))
)


@admin.register(ApiKey)
class ApiKeyAdmin(KeyColumns, BaseAdmin):
    for_merchants = (
        "named kind scope standing last_used shown name revoked text_to_copy granted asks_for allows_address origins "
        "state last4"
    )
    row_actions = (RollKey(), SetOrigins(), RevokeKey())
    list_display = ("shown", "kind", "name", "merchant", "standing", "created", "last_used", "mode")
    file_columns = (
        *("shown", "name", "public_id", "merchant", "kind"),
        *("mode", "created", "last_used", "expires", "revoked"),
    )
    list_filter = (ByKeyState, ByMode, "kind")
    list_select_related = ("merchant",)
    search_fields = ("merchant__title", "name", "=last4")
    search = IdSearch({"key": "pk", "mer": "merchant_id"})
    fieldsets = (
        (None, {"fields": ("shown", "name", "public_id", "of_merchant", "kind", "mode", "text_to_copy")}),
        (_("Limits"), {"fields": ("granted", "asks_for", "allows_address", "origins")}),
        (_("Times"), {"fields": ("created", "last_used", "expires", "revoked")}),
    )
    public_id = id_column("key")
    shown = column(_("Key"), str)
    standing = column(
        _("State"),
        lambda key: chip(gettext("revoked"), "quiet") if key.revoked_at else chip(gettext("in use"), "good"),
    )
    text_to_copy = column(
        _("Text"), lambda key: copyable(key.public_text) if key.public_text else gettext("Not stored")
    )


@admin.register(WebhookSecret)
class WebhookSecretAdmin(BaseAdmin):
    """Webhook secrets with their times; the secrets themselves stay encrypted."""

    for_merchants = "secret_id"
    list_display = ("merchant", "secret_id", "created", "expires", "mode")
    file_columns = ("secret_id", "merchant", "mode", "created", "expires")
    list_filter = (ByMode,)
    list_select_related = ("merchant",)
    search_fields = ("merchant__title",)
    search = IdSearch({"": "pk", "mer": "merchant_id"})
    fieldsets = ((None, {"fields": ("secret_id", "of_merchant", "mode", "created", "expires")}),)
    secret_id = column(_("ID"), lambda secret: secret.id.hex, in_list=lambda secret: short_id(secret.id.hex))
