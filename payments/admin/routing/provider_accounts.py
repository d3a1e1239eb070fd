"""Merchants' accounts at providers."""

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import User
from django.http import HttpRequest

from payments.admin.approvals.forms import approval_notice, submitted
from payments.admin.columns import ENABLED
from payments.admin.framework.actions import Action, Done, Result
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.filters import ByMode
from payments.admin.framework.formats import column, id_column, lines, provider_title
from payments.admin.framework.id_search import IdSearch
from payments.admin.framework.object_actions import ActionButton, Buttons, Facts, address_of
from payments.admin.routing.actions import (
    CREDENTIAL,
    MAY_CHANGE,
    SETTING,
    AddRoute,
    ChangeAccount,
    NewAccountForm,
    TestCredentials,
    asked_of_account,
    field_of_fault,
    hint_of,
    values_with_prefix,
)
from payments.admin.routing.routes import RoutesOfAccount
from payments.domain.merchants.merchants import MODES
from payments.domain.operators.four_eyes import Refused
from payments.domain.routing import provider_accounts
from payments.domain.routing.provider_accounts import BadAccount
from payments.models import ApprovalRequest, Merchant, ProviderAccount
from payments.providers.registry import CONNECTORS
from payments.vault import VaultUnavailable

NEW_NOTICE = (
    "Live cards and these credentials go where this account says, so an administrator other than you must "
    "approve it in live mode. Until then the credentials are stored encrypted; when the request is declined or "
    "expires they are destroyed."
)


class Connect(Action):
    """Of a merchant that the form names, at the provider that the address names."""

    name, label = "connect", "Connect"
    permission = MAY_CHANGE
    is_new = True
    refusals = (BadAccount, Refused, VaultUnavailable)
    makes = (ProviderAccount, ApprovalRequest)
    sent_before = "This form was sent before, and creates one account."
    what_happens = "The credentials are encrypted, and only their last four characters are shown again."

    def buttons_above(self, page: Any, request: HttpRequest) -> list[ActionButton]:
        address, may = address_of(page, "add"), self.is_allowed(page, request)
        return [
            ActionButton(f"Connect {connector.title}", f"{address}?provider={connector.name}")
            for connector in CONNECTORS.values()
            if may
        ]

    def find(self, page: Any, request: HttpRequest, pk: Any) -> Any:
        connector = CONNECTORS.get(request.GET.get("provider", ""), next(iter(CONNECTORS.values())))
        return connector, page.admin_site.get_model_admin(Merchant).get_queryset(request).order_by("title")

    def question(self, row: Any) -> str:
        return f"Connect {row[0].title}"

    def choices(self, row: Any, form: Any, operator: User) -> Buttons:
        return [(self.name, self.question(row))]

    def about(self, row: Any) -> Facts:
        yield "At", row[0].title

    def notice(self, row: Any, operator: User) -> Any:
        return approval_notice(NEW_NOTICE, operator)

    def form_for(self, row: Any, data: Any) -> NewAccountForm:
        return NewAccountForm(data, *row)

    def field_of(self, refusal: Exception, form: Any) -> str | None:
        return field_of_fault(refusal, form)

    def do(self, row: Any, cleaned: dict[str, Any]) -> Done:
        connector, livemode, merchant = row[0], MODES[cleaned["mode"]], cleaned["merchant"]
        credentials, filled = values_with_prefix(cleaned, CREDENTIAL), values_with_prefix(cleaned, SETTING)
        if livemode:
            asked = {"provider": connector.name, "title": cleaned["title"], **asked_of_account(credentials, filled)}
            return submitted(merchant, ApprovalRequest.Kind.ADD_ACCOUNT, cleaned, asked, credentials=credentials)
        account = provider_accounts.open_account(
            merchant, livemode, connector.name, cleaned["title"], credentials, filled, cleaned["row_id"]
        )
        return Result(f"{account} is connected. Its provider sends webhooks to the address below.", account)


@admin.register(ProviderAccount)
class ProviderAccountAdmin(BaseAdmin):
    row_actions = (Connect(), ChangeAccount(), TestCredentials(), AddRoute())
    list_display = ("title", "at", "merchant", "standing", "updated", "mode")
    file_columns = ("title", "public_id", "merchant", "at", "mode", "enabled", "updated")
    list_filter = (ByMode, "enabled")
    list_select_related = ("merchant",)
    search_fields = ("title", "merchant__title")
    search = IdSearch({"pac": "pk", "mer": "merchant_id"})
    fieldsets = (
        (None, {"fields": ("public_id", "title", "of_merchant", "at", "mode", "enabled")}),
        ("At the provider", {"fields": ("webhook_address", "credentials", "shown_settings")}),
        ("Times", {"fields": ("created", "updated", "version")}),
    )
    inlines = (RoutesOfAccount,)
    public_id = id_column(ProviderAccount.PREFIX)
    standing = ENABLED
    at = column("At", lambda account: provider_title(account.provider))
    webhook_address = column(
        "Webhooks go to", lambda account: f"{settings.PUBLIC_URL}/providers/{account.public_id}/webhooks"
    )
    credentials = column(
        "Credentials", lambda account: lines(f"{name}: {hint_of(account, name)}" for name in sorted(account.hints))
    )
    shown_settings = column(
        "Settings", lambda account: lines(f"{name}: {value}" for name, value in sorted(account.settings.items()))
    )
