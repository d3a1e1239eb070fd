"""Merchants' accounts at providers."""

from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from payments.admin.approvals.forms import approval_notice, submitted
from payments.admin.columns import ENABLED
from payments.admin.framework.base import ReadOnlyAdmin
from payments.admin.framework.filters import ByMode
from payments.admin.framework.formats import column, id_column, lines, provider_title
from payments.admin.framework.id_search import IdSearch
from payments.admin.framework.object_actions import ActionButton, form_page, operator_of
from payments.admin.framework.row_actions import redirect_to_request
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
from payments.context import because
from payments.domain.merchants.merchants import MODES
from payments.domain.operators.four_eyes import Refused
from payments.domain.routing import provider_accounts
from payments.domain.routing.provider_accounts import BadAccount
from payments.models import ApprovalRequest, Merchant, ProviderAccount
from payments.providers.accounts import Connector
from payments.providers.registry import CONNECTORS
from payments.vault import VaultUnavailable

WHAT_HAPPENS = "The credentials are encrypted, and only their last four characters are shown again."
NEW_NOTICE = (
    "Live cards and these credentials go where this account says, so an administrator other than you must "
    "approve it in live mode. Until then the credentials are stored encrypted; when the request is declined or "
    "expires they are destroyed."
)
SENT_BEFORE = "This form was sent before, and creates one account."


@admin.register(ProviderAccount)
class ProviderAccountAdmin(ReadOnlyAdmin):
    merchant_lookup = "merchant"
    row_actions = (ChangeAccount(), TestCredentials(), AddRoute())
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

    def beside_list(self, request: HttpRequest) -> dict[str, Any]:
        address = reverse("admin:payments_provideraccount_add")
        may = CONNECTORS.values() if operator_of(request).has_perm(MAY_CHANGE) else ()
        acts = [ActionButton(f"Connect {connector.title}", f"{address}?provider={connector.name}") for connector in may]
        return {"acts": acts}

    @method_decorator([never_cache, sensitive_post_parameters()])
    def add_view(self, request: HttpRequest, *_: Any, **__: Any) -> HttpResponse:
        """Show the connector's form for a new account, or create it."""
        if not operator_of(request).has_perm(MAY_CHANGE):
            raise PermissionDenied
        connector = CONNECTORS.get(request.GET.get("provider", ""), next(iter(CONNECTORS.values())))
        merchants = self.admin_site.get_model_admin(Merchant).get_queryset(request).order_by("title")
        form = NewAccountForm(request.POST or None, connector, merchants)
        answer = self._made(request, form, connector) if form.is_valid() else None
        if answer:
            return answer
        facts = [("At", connector.title), ("What happens", WHAT_HAPPENS)]
        title = f"Connect {connector.title}"
        notice = approval_notice(NEW_NOTICE, operator_of(request))
        return form_page(request, self, title, facts, form, [("connect", title)], notice)

    def _made(self, request: HttpRequest, form: NewAccountForm, connector: Connector) -> HttpResponse | None:
        """Create or request the account and return the response; None after a refusal, which the form then shows."""
        cleaned = form.cleaned_data
        if ProviderAccount.objects.filter(pk=cleaned["row_id"]).exists():
            return self._left(request, self.model(pk=cleaned["row_id"]), messages.WARNING, SENT_BEFORE)
        if before := ApprovalRequest.objects.filter(pk=cleaned["row_id"]).first():
            return redirect_to_request(request, self, before)
        livemode, merchant = MODES[cleaned["mode"]], cleaned["merchant"]
        credentials, filled = values_with_prefix(cleaned, CREDENTIAL), values_with_prefix(cleaned, SETTING)
        try:
            if livemode:
                asked = {"provider": connector.name, "title": cleaned["title"], **asked_of_account(credentials, filled)}
                cleaned["operator"] = operator_of(request)
                made = submitted(merchant, ApprovalRequest.Kind.ADD_ACCOUNT, cleaned, asked, credentials=credentials)
                return redirect_to_request(request, self, made)
            with because(cleaned["reason"]):
                account = provider_accounts.open_account(
                    merchant, livemode, connector.name, cleaned["title"], credentials, filled, cleaned["row_id"]
                )
        except (BadAccount, Refused, VaultUnavailable) as fault:
            form.add_error(field_of_fault(fault, form), str(fault))
            return None
        self.message_user(request, f"{account} is connected. Its provider sends webhooks to the address below.")
        return redirect("admin:payments_provideraccount_change", account.pk)
