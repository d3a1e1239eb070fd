"""Merchants' bank accounts: set on a merchant's page, and withdrawn before they take effect."""

from operator import attrgetter
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments import clock
from payments.admin.approvals.forms import approval_notice, submitted
from payments.admin.framework.actions import Action, Done
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.filters import ByMode
from payments.admin.framework.formats import chip, column, time_column
from payments.admin.framework.id_search import IdSearch
from payments.admin.framework.object_actions import Facts
from payments.admin.framework.reason_form import HiddenNumberInput, OnceForm, ReasonForm, with_stored
from payments.admin.shown_times import moment_text
from payments.domain.merchants.merchants import MODES
from payments.domain.operators.four_eyes import Refused
from payments.domain.payouts import accounts
from payments.domain.payouts.accounts import HOLDER_MAX_LENGTH, BadPayoutAccount, Details
from payments.models import ApprovalRequest, Merchant, PayoutAccount, RunningBalance
from payments.money import CURRENCIES, DEFAULT_CURRENCY
from payments.vault import VaultUnavailable

MODE_CHOICES = [(mode, mode) for mode in MODES]
CURRENCY_CHOICES = [(code, code) for code in sorted(CURRENCIES)]
NOTICE = (
    "Live payouts go to this account, so an administrator other than you must approve it. It takes effect 24 hours "
    "after that, and can be withdrawn until then."
)


class AccountNumberInput(HiddenNumberInput):
    """An input for an account number, which has letters in many countries."""

    def __init__(self) -> None:
        super().__init__()
        self.attrs["inputmode"] = "text"


class PayoutAccountForm(OnceForm):
    mode = forms.ChoiceField(label=_("Mode"), choices=MODE_CHOICES)
    currency = forms.ChoiceField(label=_("Currency"), choices=CURRENCY_CHOICES, initial=DEFAULT_CURRENCY)
    holder = forms.CharField(label=_("Holder"), max_length=HOLDER_MAX_LENGTH, help_text=_("As the bank has it."))
    bic = forms.CharField(label=_("BIC"), max_length=14, help_text=_("Of the bank, such as BNORPHMM."))
    number = forms.CharField(
        label=_("Account number"),
        max_length=60,
        widget=AccountNumberInput,
        help_text=_("The IBAN, where the bank's country has them. It is sealed, and never shown again."),
    )


def offer_currencies(form: forms.Form, merchant: Merchant) -> None:
    """Have `form` offer the currencies of today, and those in which the merchant's money already is."""
    own = RunningBalance.objects.filter(merchant=merchant).order_by("currency").values_list("currency", flat=True)
    field: Any = form.fields["currency"]
    field.choices = with_stored(CURRENCY_CHOICES, *own.distinct())


class SetPayoutAccount(Action):
    """Of a merchant: at once in test mode, and a day after an approval in live mode."""

    name, label = "set_payout_account", _("Set the bank account")
    permission = "payments.add_payoutaccount"
    approved_by: Any = NOTICE
    refusals = (BadPayoutAccount, Refused, VaultUnavailable)
    what_happens = _(
        "Payouts of that mode and currency go to it instead of the account before. Test mode takes it at once."
    )

    def form_for(self, merchant: Merchant, data: Any) -> ReasonForm:
        form = PayoutAccountForm(data)
        offer_currencies(form, merchant)
        return form

    def notice(self, merchant: Merchant, operator: User) -> Any:
        return approval_notice(self.approved_by, operator, merchant)

    def do(self, merchant: Merchant, cleaned: dict[str, Any]) -> Done:
        details = accounts.checked(Details(cleaned["currency"], cleaned["holder"], cleaned["bic"]))
        number = accounts.checked_number(details, cleaned["number"])
        if MODES[cleaned["mode"]]:
            shown = {"currency": details.currency, "holder": details.holder, "bic": details.bic}
            shown["last4"] = number[-accounts.SHOWN_LENGTH :]
            kind = ApprovalRequest.Kind.ADD_PAYOUT_ACCOUNT
            return submitted(merchant, kind, cleaned, shown, credentials={"number": number})
        account = accounts.add_account(merchant, False, details, number, cleaned["row_id"])
        words = gettext("Payouts of test mode in {currency} go to {account}.")
        return words.format(currency=account.currency, account=named(account))


class WithdrawPayoutAccount(Action):
    for_merchants = True
    name, label = "withdraw", _("Withdraw the account")
    permission = "payments.withdraw_payoutaccount"
    refusals = (BadPayoutAccount,)
    over = _("This bank account is in effect, or was withdrawn.")

    def fits(self, account: PayoutAccount) -> bool:
        return account.withdrawn_at is None and account.effective_at > clock.now()

    def facts(self, account: PayoutAccount) -> Facts:
        yield gettext("Merchant"), account.merchant.title
        yield gettext("Account"), f"{named(account)}, {account.bic}, {account.currency}"
        yield gettext("In effect from"), moment_text(account.effective_at)
        yield gettext("What happens"), gettext("No payout ever goes to it. The account before stays in effect.")

    def do(self, account: PayoutAccount, cleaned: dict[str, Any]) -> Done:
        accounts.withdraw(account)
        return gettext("Withdrawn. Payouts go where they went before.")


def named(account: PayoutAccount) -> str:
    """Return in words which account it is."""
    return gettext("{holder}, ending in {last4}").format(holder=account.holder, last4=account.last4)


def standing(account: PayoutAccount) -> str:
    """Return whether payouts go to the account; without `is_replaced`, it is known to be the newest."""
    if account.withdrawn_at:
        return chip(gettext("withdrawn"), "bad")
    if getattr(account, "is_replaced", False):
        return chip(gettext("replaced"), "quiet")
    return chip(gettext("waits"), "warn") if account.effective_at > clock.now() else chip(gettext("in effect"), "good")


@admin.register(PayoutAccount)
class PayoutAccountAdmin(BaseAdmin):
    for_merchants = "holder last4 bic currency standing effective country withdrawn"
    row_actions = (WithdrawPayoutAccount(),)
    list_display = ("holder", "merchant", "last4", "bic", "currency", "standing", "effective", "mode")
    file_columns = ("holder", "last4", "bic", "currency", "standing", "effective", "merchant", "mode")
    list_filter = (ByMode, "created_at")
    list_select_related = ("merchant",)
    search_fields = ("holder", "=last4", "=bic")
    search = IdSearch({"ba": "pk", "mer": "merchant_id"})
    fieldsets = (
        (None, {"fields": ("holder", "last4", "bic", "country", "currency", "standing")}),
        (_("Whose it is"), {"fields": ("of_merchant", "mode")}),
        (_("Times"), {"fields": ("effective", "withdrawn", "created")}),
    )
    standing = column(_("Status"), standing)
    effective = time_column(_("In effect from"), attrgetter("effective_at"))

    def headline(self, row: PayoutAccount) -> str:
        return named(row)

    def get_queryset(self, request: HttpRequest) -> QuerySet[PayoutAccount]:
        same = {name: OuterRef(name) for name in ("merchant", "livemode", "currency")}
        newer = PayoutAccount.objects.in_effect(clock.now()).filter(**same, effective_at__gt=OuterRef("effective_at"))
        return super().get_queryset(request).annotate(is_replaced=Exists(newer))
