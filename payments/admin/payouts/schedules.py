"""Schedules of payouts: what is due, the form of their terms, and a payout that is made now."""

from operator import attrgetter
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Q
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from payments import clock
from payments.admin.approvals.forms import approval_notice, submitted
from payments.admin.form_fields import WholeNumberField
from payments.admin.framework.actions import Action, Done
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.filters import ByMode
from payments.admin.framework.formats import NOTHING, column, days_text, link, money, time_column
from payments.admin.framework.id_search import IdSearch
from payments.admin.framework.object_actions import Facts
from payments.admin.framework.reason_form import ReasonForm
from payments.admin.payouts.accounts import CURRENCY_CHOICES, MODE_CHOICES, named, offer_currencies
from payments.domain.approvals.kinds.payouts import describe_schedule
from payments.domain.approvals.limits import schedule_needs_approval
from payments.domain.approvals.payouts import pay_out
from payments.domain.approvals.verbs import PAYOUT
from payments.domain.merchants.merchants import MODES
from payments.domain.operators.four_eyes import Refused
from payments.domain.payouts import make, terms
from payments.domain.payouts.make import NothingToPay
from payments.domain.payouts.schedules import account_in_effect
from payments.domain.payouts.terms import BadSchedule, Terms
from payments.models import ApprovalRequest, Merchant, Payout, PayoutAccount, PayoutSchedule, ProviderAccount
from payments.money import DEFAULT_CURRENCY
from payments.vault import VaultUnavailable

MAY_CHANGE = "payments.change_payoutschedule"
NOTICE = (
    "A first schedule of live mode, a shorter delay, a smaller reserve or another way out needs the approval of "
    "an administrator other than you, because the delay and the reserve cover later refunds and disputes. Other "
    "changes are made at once."
)


class TermsForm(ReasonForm):
    interval = forms.ChoiceField(
        choices=PayoutSchedule.Interval.choices, help_text="At 01:00 UTC; weekly on Mondays, monthly on the first."
    )
    delay_days = WholeNumberField(
        label="Delay (days)",
        min_value=0,
        max_value=terms.DELAY_DAYS_MAX,
        initial=0,
        help_text="From the end of a settlement's day until it is paid out.",
    )
    reserve_percent = WholeNumberField(
        label="Reserve (%)",
        min_value=0,
        max_value=terms.RESERVE_PERCENT_MAX,
        initial=0,
        help_text="Kept of each payout. 0: nothing.",
    )
    reserve_days = WholeNumberField(
        label="Reserve kept (days)", min_value=0, max_value=terms.RESERVE_DAYS_MAX, initial=0
    )
    provider_account = forms.ModelChoiceField(
        ProviderAccount.objects.none(),
        label="Way out",
        required=False,
        empty_label="a bank file",
        help_text="Of live mode. Payouts of test mode go to the simulated bank.",
    )

    def __init__(self, data: Any, merchant: Merchant, initial: Any = None) -> None:
        super().__init__(data, initial=initial)
        chosen: Any = self.fields["provider_account"]
        # The one that is set stays a choice when it is switched off: without it the way out would be a bank file.
        offered = Q(enabled=True) | Q(pk=(initial or {}).get("provider_account") or None)
        chosen.queryset = ProviderAccount.objects.filter(offered, merchant=merchant, livemode=True)


class NewScheduleForm(TermsForm):
    mode = forms.ChoiceField(choices=MODE_CHOICES)
    currency = forms.ChoiceField(choices=CURRENCY_CHOICES, initial=DEFAULT_CURRENCY)
    field_order = ("mode", "currency")


class SetsTerms(Action):
    """An action that sets the terms of a schedule, or requests it."""

    permission = MAY_CHANGE
    refusals = (BadSchedule, Refused, VaultUnavailable)

    def set(self, merchant: Merchant, livemode: bool, currency: str, cleaned: dict[str, Any]) -> Done:
        account = cleaned["provider_account"]
        names = ("interval", "delay_days", "reserve_percent", "reserve_days")
        wanted = Terms(**{name: cleaned[name] for name in names}, provider_account=str(account.pk) if account else "")
        now = terms.schedule_of(merchant, livemode, currency)
        if schedule_needs_approval(livemode, Terms.of(now) if now else None, wanted):
            kind, asked = ApprovalRequest.Kind.SET_PAYOUT_SCHEDULE, {"currency": currency, **wanted.as_json()}
            return submitted(merchant, kind, cleaned, asked, describe_schedule(now), now.id if now else None)
        schedule = terms.set_schedule(merchant, livemode, currency, wanted)
        return f"Payouts in {currency} are {schedule.get_interval_display().lower()} from now on."


class SetPayoutSchedule(SetsTerms):
    """Of a merchant that has none in the mode and currency yet."""

    name, label = "set_payout_schedule", "Set the payout schedule"
    what_happens = "What is settled and available in that mode and currency is paid out by these terms."

    def form_for(self, merchant: Merchant, data: Any) -> ReasonForm:
        form = NewScheduleForm(data, merchant)
        offer_currencies(form, merchant)
        return form

    def notice(self, merchant: Merchant, operator: User) -> Any:
        return approval_notice(NOTICE, operator, merchant)

    def do(self, merchant: Merchant, cleaned: dict[str, Any]) -> Done:
        livemode = MODES[cleaned["mode"]]
        if terms.schedule_of(merchant, livemode, cleaned["currency"]):
            raise BadSchedule("There is a schedule in this mode and currency. Change it on its own page.", "currency")
        return self.set(merchant, livemode, cleaned["currency"], cleaned)


def facts_of(schedule: PayoutSchedule) -> Facts:
    """Yield which schedule it is."""
    yield "Merchant", schedule.merchant.title
    yield "Mode", "live: this is real money" if schedule.livemode else "test"
    yield "Currency", schedule.currency


class ChangeSchedule(SetsTerms):
    name, label = "change_schedule", "Change the schedule"
    what_happens = "Payouts made from now on have these terms; those made before keep theirs."

    def form_for(self, schedule: PayoutSchedule, data: Any) -> ReasonForm:
        return TermsForm(data, schedule.merchant, Terms.of(schedule).as_json())

    def about(self, schedule: PayoutSchedule) -> Facts:
        return facts_of(schedule)

    def notice(self, schedule: PayoutSchedule, operator: User) -> Any:
        return approval_notice(NOTICE, operator, schedule.merchant) if schedule.livemode else None

    def do(self, schedule: PayoutSchedule, cleaned: dict[str, Any]) -> Done:
        return self.set(schedule.merchant, schedule.livemode, schedule.currency, cleaned)


class PayOutNow(Action):
    name, label = "pay_out", "Pay out now"
    permission = PAYOUT.permission
    refusals = (NothingToPay,)

    def facts(self, schedule: PayoutSchedule) -> Facts:
        yield from facts_of(schedule)
        now = clock.now()
        yield "Payable now", money(make.payable(schedule, now), schedule.currency)
        yield "Kept as reserve", f"{schedule.reserve_percent} % for {days_text(schedule.reserve_days)}"
        yield "Goes to", account_in_effect(schedule, now) or "no bank account yet"

    def notice(self, schedule: PayoutSchedule, operator: User) -> Any:
        text = "A payout of all that is payable is made. Another operator approves it before it goes out."
        return text if schedule.livemode else None

    def do(self, schedule: PayoutSchedule, cleaned: dict[str, Any]) -> Done:
        payout = pay_out(schedule, cleaned["operator"], cleaned["reason"])
        return f"{payout} pays {money(payout.amount, payout.currency)}."


def way_out(schedule: PayoutSchedule | Payout) -> str:
    """Return how the payouts of a schedule go out, or one of them."""
    if not schedule.livemode:
        return "the simulated bank"
    account = schedule.provider_account
    return link(ProviderAccount, account.id, account) if account else "a bank file"


def _account(schedule: PayoutSchedule) -> str:
    account = account_in_effect(schedule, clock.now())
    return link(PayoutAccount, account.id, named(account)) if account else NOTHING


@admin.register(PayoutSchedule)
class PayoutScheduleAdmin(BaseAdmin):
    """What is due: each schedule with what a payout would take now."""

    row_actions = (PayOutNow(), ChangeSchedule())
    list_display = ("merchant", "interval", "reserve", "delay_days", "shown_payable", "next", "mode")
    file_columns = ("merchant", "mode", "currency", "shown_payable", "next", "interval", "delay_days", "reserve")
    list_filter = ("interval", ByMode)
    list_select_related = ("merchant",)
    search_fields = ("=currency",)
    search = IdSearch({"": "pk", "mer": "merchant_id"})
    fieldsets = (
        (None, {"fields": ("of_merchant", "mode", "currency", "interval", "next")}),
        (_("What it pays"), {"fields": ("shown_payable", "account", "way_out")}),
        (_("What it leaves"), {"fields": ("delay_days", "reserve_percent", "reserve_days")}),
    )
    shown_payable = column(
        _("Payable now"), lambda schedule: money(schedule.payable, schedule.currency), is_number=True
    )
    reserve = column(
        _("Reserve"),
        lambda schedule: gettext("{percent} % for {days}").format(
            percent=schedule.reserve_percent, days=days_text(schedule.reserve_days)
        ),
    )
    account = column(pgettext_lazy("a bank account", "To"), _account)
    way_out = column("By", way_out)
    next = time_column(_("Next payout"), attrgetter("next_at"))

    def headline(self, row: PayoutSchedule) -> str:
        return f"{row.get_interval_display()} payouts in {row.currency} to {row.merchant}"

    def complete(self, rows: Any) -> None:
        super().complete(rows)
        payable = make.payables(rows, clock.now())
        for row in rows:
            row.payable = payable[row.pk]
