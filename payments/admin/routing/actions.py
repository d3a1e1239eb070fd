"""Row actions on provider accounts and routes. A credential is never shown again."""

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.core.validators import RegexValidator
from django.db.models import QuerySet

from payments import sourcetypes
from payments.admin.approvals.forms import approval_notice, submitted
from payments.admin.form_fields import MODE_CHOICES, WholeNumberField
from payments.admin.framework.actions import Action, Done
from payments.admin.framework.formats import provider_title
from payments.admin.framework.object_actions import Facts
from payments.admin.framework.reason_form import OnceForm, ReasonForm
from payments.domain.approvals.kinds.changes import Overtaken
from payments.domain.approvals.kinds.routing import describe_account, describe_route
from payments.domain.approvals.limits import account_change_needs_approval
from payments.domain.operators.four_eyes import Refused
from payments.domain.routing import provider_accounts
from payments.domain.routing.provider_accounts import BadAccount
from payments.domain.routing.routes import BadRoute
from payments.models import ApprovalRequest, Merchant, ProviderAccount, Route
from payments.money import CURRENCIES, parse_amount, plain_amount
from payments.providers.accounts import AccountField, Connector
from payments.providers.base import Approved, Rejected
from payments.providers.registry import CONNECTORS
from payments.vault import VaultUnavailable

MAY_CHANGE, MAY_TEST = "payments.change_provideraccount", "payments.test_provideraccount"
MAY_ROUTE = "payments.change_route"
Kind = ApprovalRequest.Kind
ACCOUNT_NOTICE = (
    "Live cards and this account's credentials go where it says, so an administrator other than you must approve the "
    "change. Switching the account off, and nothing else, is done at once."
)
ROUTE_NOTICE = "A route says which provider live cards are sent to, so an administrator other than you must approve it."
CREDENTIAL, SETTING = "credential_", "setting_"
SECRET_MAX_LENGTH = 4096
TYPE_CHOICES = [(kind.name, kind.label) for kind in sourcetypes.SOURCE_TYPES]
ANY_CURRENCY = [("", "any"), *((code, code) for code in sorted(CURRENCIES))]


def secret_field(field: AccountField, required: bool) -> forms.CharField:
    """Return a field for a credential, which never shows its value again."""
    widget = forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password", "class": "vTextField"})
    return forms.CharField(
        label=field.label,
        help_text=field.help_text,
        required=required,
        max_length=SECRET_MAX_LENGTH,
        widget=widget,
        validators=[_matches(field)],
    )


def setting_field(field: AccountField, value: str = "") -> forms.CharField:
    return forms.CharField(
        label=field.label,
        help_text=field.help_text,
        required=field.required,
        max_length=200,
        initial=value,
        validators=[_matches(field)],
    )


def _matches(field: AccountField) -> RegexValidator:
    return RegexValidator(rf"\A(?:{field.pattern.pattern})\Z", field.form)


def values_with_prefix(cleaned: Mapping[str, Any], prefix: str) -> dict[str, str]:
    """Return the form's values for the fields with `prefix`."""
    return {name.removeprefix(prefix): value for name, value in cleaned.items() if name.startswith(prefix)}


class NewAccountForm(OnceForm):
    """A form for a new account with the provider of `connector`, for one of `merchants`."""

    merchant = forms.ModelChoiceField(Merchant.objects.none())
    mode = forms.ChoiceField(choices=MODE_CHOICES, help_text="Test mode is the simulator's: sandboxes are tried only.")
    title = forms.CharField(max_length=100, help_text="The operators' name for it.")

    def __init__(self, data: Any, connector: Connector, merchants: QuerySet[Merchant]) -> None:
        super().__init__(data)
        chosen: Any = self.fields["merchant"]
        chosen.queryset = merchants
        for field in connector.credentials:
            self.fields[CREDENTIAL + field.name] = secret_field(field, field.required)
        for field in connector.settings:
            self.fields[SETTING + field.name] = setting_field(field)
        self.fields["reason"] = self.fields.pop("reason")


class AccountForm(ReasonForm):
    title = forms.CharField(max_length=100)
    enabled = forms.BooleanField(required=False, help_text="Off: nothing new is asked of it.")

    def __init__(self, data: Any, account: ProviderAccount) -> None:
        super().__init__(data, initial={"title": account.title, "enabled": account.enabled})
        connector = CONNECTORS.get(account.provider)
        for field in connector.credentials if connector else ():
            shown = self.fields[CREDENTIAL + field.name] = secret_field(field, required=False)
            shown.help_text = f"Empty: {hint_of(account, field.name)} stays."
        for field in connector.settings if connector else ():
            self.fields[SETTING + field.name] = setting_field(field, account.settings.get(field.name, ""))
        self.fields["reason"] = self.fields.pop("reason")


class ChangeAccount(Action):
    name, label = "change_account", "Change the account"
    permission = MAY_CHANGE
    refusals = (BadAccount, Refused, Overtaken, VaultUnavailable)

    def form_for(self, account: ProviderAccount, data: Any) -> ReasonForm:
        return AccountForm(data, account)

    def notice(self, account: ProviderAccount, operator: User) -> Any:
        return approval_notice(ACCOUNT_NOTICE, operator, account.merchant) if account.livemode else None

    def field_of(self, refusal: Exception, form: forms.Form) -> str | None:
        return field_of_fault(refusal, form)

    def facts(self, account: ProviderAccount) -> Facts:
        yield from facts_of(account)
        yield "What happens", "All requests from now on use these values."
        yield "Settings", "To change one, type every credential again, because credentials are sent to where it says."

    def do(self, account: ProviderAccount, cleaned: dict[str, Any]) -> Done:
        credentials, settings = values_with_prefix(cleaned, CREDENTIAL), values_with_prefix(cleaned, SETTING)
        if account_change_needs_approval(account, cleaned["title"], cleaned["enabled"], credentials, settings):
            asked = {name: cleaned[name] for name in ("title", "enabled")} | asked_of_account(credentials, settings)
            before = describe_account(account)
            return submitted(
                account.merchant, Kind.CHANGE_ACCOUNT, cleaned, asked, before, account.id, credentials=credentials
            )
        provider_accounts.change_account(account, cleaned["title"], cleaned["enabled"], credentials, settings)
        return f"{cleaned['title']} is changed."


def facts_of(account: ProviderAccount) -> Facts:
    """Yield which account it is."""
    yield "Account", f"{account} ({account.public_id})"
    yield "At", provider_title(account.provider)
    yield "Merchant", account.merchant.title
    yield "Mode", "live: this is real money" if account.livemode else "test"


class TestCredentials(Action):
    name, label = "test_credentials", "Test the credentials"
    permission = MAY_TEST

    what_happens = "The provider is asked something that moves no money."

    def about(self, account: ProviderAccount) -> Facts:
        return facts_of(account)

    def do(self, account: ProviderAccount, cleaned: dict[str, Any]) -> Done:
        match provider_accounts.try_credentials(account):
            case Approved():
                return "The provider accepts these credentials."
            case Rejected() as no:
                return f"The provider refuses these credentials: {no.provider_code} {no.message}".rstrip()
            case outcome:
                return f"The provider gave no answer: {getattr(outcome, 'why', type(outcome).__name__)}."


class RouteForm(ReasonForm):
    """A form for what a route takes, with amounts as people write them."""

    source_type = forms.ChoiceField(label="Type", choices=TYPE_CHOICES)
    currency = forms.ChoiceField(choices=ANY_CURRENCY, required=False)
    amount_min = forms.CharField(label="Smallest amount", required=False, help_text="Such as 20.00. Empty: any.")
    amount_max = forms.CharField(label="Largest amount", required=False, help_text="Empty: any.")
    position = WholeNumberField(
        label="Place", min_value=1, max_value=999, initial=1, help_text="Of a merchant's routes the lowest is first."
    )
    hold = forms.BooleanField(label="Holds", required=False, initial=True)
    refund = forms.BooleanField(label="Refunds", required=False, initial=True)
    partial_refund = forms.BooleanField(label="Refunds in part", required=False, initial=True)
    enabled = forms.BooleanField(required=False, initial=True)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        for name in ("amount_min", "amount_max"):
            cleaned[name] = self._amount(name, cleaned)
        return cleaned

    def _amount(self, name: str, cleaned: dict[str, Any]) -> int | None:
        typed, currency = cleaned.get(name), cleaned.get("currency")
        if not typed:
            return None
        if not currency:
            self.add_error("currency", "Amounts are of a currency.")
            return None
        try:
            return parse_amount(typed, currency)
        except ValueError as fault:
            self.add_error(name, f"This is {fault}.")
            return None


class NewRouteForm(RouteForm, OnceForm):
    """A form for a new route."""


class AddRoute(Action):
    name, label = "add_route", "Add a route"
    permission = MAY_ROUTE
    form = NewRouteForm
    refusals = (BadRoute, Refused, VaultUnavailable)
    what_happens = "Once approved, charges of live mode that it takes may go by it."

    def fits(self, account: ProviderAccount) -> bool:
        return account.livemode

    def about(self, account: ProviderAccount) -> Facts:
        return facts_of(account)

    def notice(self, account: ProviderAccount, operator: User) -> Any:
        return approval_notice(ROUTE_NOTICE, operator, account.merchant)

    def do(self, account: ProviderAccount, cleaned: dict[str, Any]) -> Done:
        asked = {"account": str(account.id), **_columns(cleaned)}
        return submitted(account.merchant, Kind.ADD_ROUTE, cleaned, asked)


class ChangeRoute(Action):
    name, label = "change_route", "Change the route"
    permission = MAY_ROUTE
    refusals = (BadRoute, Refused, Overtaken, VaultUnavailable)

    def notice(self, route: Route, operator: User) -> Any:
        return approval_notice(ROUTE_NOTICE, operator, route.account.merchant)

    def form_for(self, route: Route, data: Any) -> ReasonForm:
        columns = {name: getattr(route, name) for name in RouteForm.base_fields if hasattr(route, name)}
        return RouteForm(data, initial=columns | dict(_bounds(route)))

    def facts(self, route: Route) -> Facts:
        yield from facts_of(route.account)
        yield (
            "What happens",
            "Once approved, it applies to new charges; earlier ones are captured and refunded by their own route.",
        )

    def do(self, route: Route, cleaned: dict[str, Any]) -> Done:
        before = describe_route(route)
        return submitted(route.account.merchant, Kind.CHANGE_ROUTE, cleaned, _columns(cleaned), before, route.id)


def asked_of_account(credentials: Mapping[str, str], settings: Mapping[str, str]) -> dict[str, Any]:
    """Return what a request shows of an account: its settings, and the names of the typed credentials."""
    return {
        "settings": {name: value for name, value in settings.items() if value},
        "credentials": sorted(name for name, value in credentials.items() if value),
    }


def field_of_fault(fault: Exception, form: forms.Form) -> str | None:
    """Return the field of the credential or setting that `fault` is about; None for neither."""
    field = getattr(fault, "field", "")
    return next((name for name in (CREDENTIAL + field, SETTING + field) if field and name in form.fields), None)


def hint_of(account: ProviderAccount, name: str) -> str:
    """Return the last four characters of a credential, if it is long enough to show them."""
    if name not in account.hints:
        return "nothing"
    return f"…{account.hints[name]}" if account.hints[name] else "the stored value"


def _columns(cleaned: Mapping[str, Any]) -> dict[str, Any]:
    return {name: cleaned[name] for name in RouteForm.base_fields if name != "reason"}


def _bounds(route: Route) -> Iterator[tuple[str, str]]:
    for name in ("amount_min", "amount_max"):
        amount = getattr(route, name)
        yield name, plain_amount(amount, route.currency) if amount else ""
