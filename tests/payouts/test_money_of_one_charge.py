"""The money of one charge, posting by posting: from its payer to the merchant's bank, and through a lost dispute.

A debit is positive, a credit negative. What is held is a memo, and moves no money.
"""

from typing import Any

import pytest

from payments.domain.merchants import terms
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.payouts import make, send
from payments.domain.provider_events.messages import apply_simulator_messages
from payments.ids import parse_id
from payments.ledger.fees import Rate
from payments.models import Attempt, Dispute, Payout, PayoutSchedule, Posting
from payments.providers.simulator.models import SimulatedPayment
from payments.providers.simulator.scenarios import Story
from tests.client import Api, made
from tests.disputes.stories import a_week_passes
from tests.faults.tallies import broken_invariants
from tests.ledger.books import settle, standing
from tests.payouts.stories import bank_acts, days_pass, give_account, give_schedule, paid_out

# The money check needs a transaction of its own.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("fees")]

Line = tuple[str, str, int]
DISPUTE_FEE = 1_500
RETURNING_NUMBER = "000000000003"


class Ledger:
    """The ledger as somebody reads it who looks again after each step."""

    def __init__(self) -> None:
        self._read: set[object] = set()

    def news(self) -> list[Line]:
        """Return the lines since the last look, each as kind, account and amount."""
        rows = Posting.objects.exclude(id__in=self._read).order_by("created_at", "journal", "line")
        lines = [(row.id, (row.kind, row.account, row.amount)) for row in rows]
        self._read.update(row_id for row_id, _ in lines)
        return [line for _, line in lines]


@pytest.fixture
def ledger(shop: NewMerchant) -> Ledger:
    terms.set_fee(shop.merchant, "dispute", "PHP", Rate(basis_points=0, fixed=DISPUTE_FEE))
    return Ledger()


@pytest.fixture
def schedule(shop: NewMerchant) -> PayoutSchedule:
    give_account(shop.merchant)
    return give_schedule(shop.merchant)


def test_the_money_of_a_charge_reaches_the_merchants_bank_and_is_lost_in_a_dispute(
    api: Api, schedule: PayoutSchedule, ledger: Ledger
) -> None:
    charge = take_from_the_payer(api, ledger)
    pay_to_the_merchants_bank(schedule, ledger)
    lose_in_a_dispute(charge, schedule, ledger)

    # Another charge is settled, and the payout of it is smaller by the debt.
    api.charge(amount=20_000)
    pay_out_settled(schedule, 20_000 - 715 - 11_500)
    assert standing() == {"bank": 365 + 715 + DISPUTE_FEE, "fees": -(365 + 715 + DISPUTE_FEE)}
    assert broken_invariants() == []


def take_from_the_payer(api: Api, ledger: Ledger) -> dict[str, Any]:
    # The payer's bank holds PHP 100.00.
    charge = api.held(amount=10_000)
    assert ledger.news() == [("hold", "provider_hold", 10_000), ("hold", "merchant_hold", -10_000)]

    # The merchant captures it: the provider owes us the money, and we owe it to the merchant, less our fee.
    made(api.post(f"/charges/{charge['id']}/capture"))
    assert ledger.news() == [
        ("capture", "provider_receivable", 10_000),
        ("capture", "merchant_pending", -10_000),
        ("fee", "merchant_pending", 365),
        ("fee", "fees", -365),
        ("release", "merchant_hold", 10_000),
        ("release", "provider_hold", -10_000),
    ]
    return charge


def pay_to_the_merchants_bank(schedule: PayoutSchedule, ledger: Ledger) -> None:
    # The day ends: the provider pays our bank, and the merchant's money is available.
    settle()
    assert ledger.news() == [
        ("settle", "merchant_payable", -9_635),
        ("settle", "merchant_pending", 9_635),
        ("settle", "bank", 10_000),
        ("settle", "provider_receivable", -10_000),
    ]

    # A payout takes what is available. When it is sent, it is on its way, and nothing moves.
    days_pass(1)
    payout = make.make_now(schedule.id)
    assert ledger.news() == [("payout", "merchant_payable", 9_635), ("payout", "payouts_in_transit", -9_635)]
    send.send_due()
    assert (Payout.objects.get().status, ledger.news()) == ("in_transit", [])

    # The money leaves our bank for the merchant's. Our fee is what stays.
    bank_acts()
    assert Payout.objects.get(id=payout.id).status == "paid"
    assert ledger.news() == [("payout_paid", "payouts_in_transit", 9_635), ("payout_paid", "bank", -9_635)]
    assert standing() == {"bank": 365, "fees": -365}


def lose_in_a_dispute(charge: dict[str, Any], schedule: PayoutSchedule, ledger: Ledger) -> None:
    # The payer's bank takes the money back, and we charge the merchant for that: the balance is negative.
    dispute(charge)
    assert ledger.news() == [
        ("dispute", "merchant_payable", 10_000),
        ("dispute", "provider_receivable", -10_000),
        ("dispute_fee", "merchant_payable", DISPUTE_FEE),
        ("dispute_fee", "fees", -DISPUTE_FEE),
    ]
    assert standing()["merchant_payable"] == 11_500
    with pytest.raises(make.NothingToPay):
        make.make_now(schedule.id)

    # The provider keeps the money from what it pays us.
    settle()
    assert ledger.news() == [("settle", "bank", -10_000), ("settle", "provider_receivable", 10_000)]

    # The dispute is lost, which moves no more.
    a_week_passes()
    assert (Dispute.objects.get().status, ledger.news()) == ("lost", [])


def test_a_payout_that_its_bank_returns_goes_to_another_account(
    api: Api, schedule: PayoutSchedule, ledger: Ledger, shop: NewMerchant
) -> None:
    api.charge(amount=10_000)
    give_account(shop.merchant, RETURNING_NUMBER)
    payout = pay_out_settled(schedule, 9_635)

    # The bank sends the money back after it was paid: the merchant's balance has it again.
    assert ledger.news()[-4:] == [
        ("payout_paid", "payouts_in_transit", 9_635),
        ("payout_paid", "bank", -9_635),
        ("payout_failed", "bank", 9_635),
        ("payout_failed", "merchant_payable", -9_635),
    ]
    assert (payout.status, standing()["merchant_payable"]) == ("failed", -9_635)

    # The money goes to another account.
    give_account(shop.merchant)
    assert paid_out(schedule).amount == 9_635
    assert standing() == {"bank": 365, "fees": -365}
    assert broken_invariants() == []


def pay_out_settled(schedule: PayoutSchedule, amount: int) -> Payout:
    """Settle what was captured, and pay out all of it, which is `amount`; return the payout after its bank acted."""
    settle()
    days_pass(1)
    payout = paid_out(schedule)
    assert payout.amount == amount
    return payout


def dispute(charge: dict[str, Any]) -> None:
    """Have the payer's bank take a charge back, in a dispute that will be lost."""
    first = Attempt.objects.filter(charge=parse_id("ch", charge["id"])).earliest("created_at")
    payment = SimulatedPayment.objects.filter(reference=first.reference)
    payment.update(story=Story.LOST, dispute_due_at="2026-01-01T00:00Z")
    apply_simulator_messages()
