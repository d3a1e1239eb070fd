"""A merchant's bank account and schedule, and money that can be paid out."""

from datetime import timedelta
from typing import Any

from django.db.models import F

from payments import clock, ids
from payments.domain.payouts import make, send
from payments.domain.payouts.schedules import next_run_at
from payments.domain.provider_events.messages import apply_simulator_messages
from payments.models import Merchant, Payout, PayoutAccount, PayoutPart, PayoutSchedule
from payments.providers.simulator.models import SimulatedPayout
from payments.vault import Place, Purpose, seal
from tests.client import Api
from tests.ledger.books import settle

DAY = timedelta(days=1)


def give_account(
    merchant: Merchant,
    number: str = "000123456789",
    currency: str = "PHP",
    livemode: bool = False,
    bic: str = "BNORPHMM",
    holder: str = "Sari Store",
) -> PayoutAccount:
    """Give the merchant a bank account that was added a day ago, in effect from now on."""
    account_id, now = ids.new_id(), clock.now()
    return PayoutAccount.objects.create(
        id=account_id,
        merchant=merchant,
        livemode=livemode,
        currency=currency,
        holder=holder,
        bic=bic,
        country="PH",
        sealed_number=seal(number, Place(Purpose.SECRET, merchant.id, account_id, "number")),
        last4=number[-4:],
        created_at=now - DAY,
        effective_at=now,
    )


def give_schedule(merchant: Merchant, interval: str = "manual", currency: str = "PHP", **terms: int) -> PayoutSchedule:
    """Give the merchant a schedule, by default in test mode."""
    given = {"livemode": False, "currency": currency, "interval": interval} | terms
    return PayoutSchedule.objects.create(merchant=merchant, next_at=next_run_at(interval, clock.now()), **given)


def make_payout(merchant: Merchant, amount: int = 1) -> Payout:
    """Store a payout that is made of nothing, for tests of what is shown of it."""
    account = give_account(merchant)
    return Payout.objects.create(merchant=merchant, livemode=False, currency="PHP", account=account, amount=amount)


def settled(api: Api, amount: int = 10_000, **members: Any) -> dict[str, Any]:
    """Return a charge whose money is settled, and can be paid out."""
    charge = api.charge(amount=amount, **members)
    settle()
    days_pass(1)
    return charge


def days_pass(days: int) -> None:
    """Let days pass for settlements and payouts, without running a schedule."""
    by = days * DAY
    PayoutPart.objects.filter(payout__isnull=True).update(payable_at=F("payable_at") - by)
    PayoutSchedule.objects.filter(next_at__isnull=False).update(next_at=F("next_at") - by)
    Payout.objects.filter(due_at__isnull=False).update(due_at=F("due_at") - by)
    Payout.objects.filter(reserve_due_at__isnull=False).update(reserve_due_at=F("reserve_due_at") - by)
    SimulatedPayout.objects.filter(due_at__isnull=False).update(due_at=F("due_at") - by)


def bank_acts() -> None:
    """Let the simulated bank do all that it does within a week."""
    for _ in range(7):
        send.send_due()
        apply_simulator_messages()
        days_pass(1)


def paid_out(schedule: PayoutSchedule) -> Payout:
    """Make a payout and let the simulated bank act on it."""
    payout = make.make_now(schedule.id)
    bank_acts()
    return Payout.objects.select_related("account").get(id=payout.id)
