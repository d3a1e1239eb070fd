"""The balance by currency, with the next payout of each."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from payments import clock
from payments.admin.lists.mode import MODES, mode_of
from payments.domain.payouts.make import payable, reserve_of
from payments.ledger.balances import Balance, balances_of
from payments.merchant_site.site import merchant_of, merchant_site
from payments.models import Merchant, PayoutSchedule
from payments.money import shown_amount


@dataclass(frozen=True, slots=True)
class NextPayout:
    """What a schedule pays next, as far as it is known now; `at` is None for one that is made when it is asked for."""

    schedule: PayoutSchedule
    at: datetime | None
    amount: int

    @property
    def words(self) -> str:
        """Return the amount; words where there is nothing to be paid."""
        return shown_amount(self.amount, self.schedule.currency) if self.amount > 0 else "Nothing yet"


def next_payout(schedule: PayoutSchedule) -> NextPayout:
    """Return the schedule's next payout: what has been settled so far and is payable by then, less the reserve."""
    total = payable(schedule, max(schedule.next_at or clock.now(), clock.now()))
    return NextPayout(schedule, schedule.next_at, total - reserve_of(schedule, total))


def next_payouts(merchant: Merchant, livemode: bool) -> dict[str, NextPayout]:
    """Return the next payout of each currency that has a schedule."""
    schedules = PayoutSchedule.objects.of(merchant.pk, livemode).order_by("currency")
    return {schedule.currency: next_payout(schedule) for schedule in schedules}


def balance_page(request: HttpRequest) -> HttpResponse:
    """Return the page of the balance in the chosen mode."""
    merchant, livemode = merchant_of(request), MODES[mode_of(request)]
    coming = next_payouts(merchant, livemode)
    found = balances_of(merchant.pk, livemode)
    books = [(code, list(_amounts(each, code)), coming.get(code)) for code, each in found.items()]
    context: dict[str, Any] = {"title": "Balance", "books": books}
    return TemplateResponse(request, "merchant/balance.html", merchant_site.each_context(request) | context)


def _amounts(balance: Balance, currency: str) -> Iterator[tuple[str, str, str]]:
    """Yield each part of a balance: its name, amount and meaning."""
    for name, amount, meaning in (
        ("Available", balance.available, "settled, for the next payout"),
        ("Pending", balance.pending, "captured, settled after the end of the day (UTC)"),
        ("On its way", balance.on_its_way, "in payouts that are not paid yet"),
        ("Reserved", balance.reserved, "kept of payouts for some days"),
        ("Held", balance.held, "of holds; not yours before you capture them"),
    ):
        yield name, shown_amount(amount, currency), meaning
