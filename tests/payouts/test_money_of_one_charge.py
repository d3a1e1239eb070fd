"""The money of one charge, posting by posting: from its payer to the merchant's bank, and through a lost dispute.

A debit is positive, a credit negative. What is held is a memo, and moves no money.
"""

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
from tests.payouts.stories import bank_acts, days_pass, give_account, give_schedule

# The money check needs a transaction of its own.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("fees")]

Line = tuple[str, str, int]
DISPUTE_FEE = 1_500


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


def test_the_money_of_a_charge_goes_from_its_payer_to_the_merchants_bank(
    api: Api, schedule: PayoutSchedule, ledger: Ledger
) -> None:
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

    # The day ends: the provider pays our bank, and the merchant's money is available.
    settle()
    assert ledger.news() == [
        ("settle", "merchant_payable", -9_635),
        ("settle", "merchant_pending", 9_635),
        ("settle", "bank", 10_000),
        ("settle", "provider_receivable", -10_000),
    ]

    # A payout takes what is available.
    days_pass(1)
    payout = make.make_now(schedule.id)
    assert ledger.news() == [("payout", "merchant_payable", 9_635), ("payout", "payouts_in_transit", -9_635)]

    # It is sent: it is on its way, and nothing has moved.
    send.send_due()
    assert (Payout.objects.get().status, ledger.news()) == ("in_transit", [])

    # The money leaves our bank for the merchant's. Our fee is what stays.
    bank_acts()
    assert Payout.objects.get(id=payout.id).status == "paid"
    assert ledger.news() == [("payout_paid", "payouts_in_transit", 9_635), ("payout_paid", "bank", -9_635)]
    assert standing() == {"bank": 365, "fees": -365}
    assert broken_invariants() == []


def test_a_lost_dispute_is_kept_from_the_next_payout(
    api: Api, schedule: PayoutSchedule, ledger: Ledger, shop: NewMerchant
) -> None:
    # A charge is captured, settled and paid out.
    charge = api.charge(amount=10_000)
    settle()
    days_pass(1)
    make.make_now(schedule.id)
    bank_acts()
    ledger.news()
    assert standing() == {"bank": 365, "fees": -365}

    # The payer's bank takes the money back, and we charge the merchant for that: the balance is negative.
    attempt = Attempt.objects.get(charge=parse_id("ch", charge["id"]))
    SimulatedPayment.objects.filter(reference=attempt.reference).update(
        story=Story.LOST, dispute_due_at="2026-01-01T00:00Z"
    )
    apply_simulator_messages()
    assert ledger.news() == [
        ("dispute", "merchant_payable", 10_000),
        ("dispute", "provider_receivable", -10_000),
        ("dispute_fee", "merchant_payable", DISPUTE_FEE),
        ("dispute_fee", "fees", -DISPUTE_FEE),
    ]
    assert standing()["merchant_payable"] == 11_500

    # There is nothing to pay out.
    with pytest.raises(make.NothingToPay):
        make.make_now(schedule.id)

    # The provider keeps the money from what it pays us.
    settle()
    assert ledger.news() == [("settle", "bank", -10_000), ("settle", "provider_receivable", 10_000)]

    # Another charge is settled, and the payout of it is smaller by the debt.
    api.charge(amount=20_000)
    settle()
    days_pass(1)
    ledger.news()
    give_account(shop.merchant, "000000000003")
    payout = make.make_now(schedule.id)
    assert payout.amount == 20_000 - 715 - 11_500
    assert ledger.news() == [("payout", "merchant_payable", 7_785), ("payout", "payouts_in_transit", -7_785)]

    # Its bank sends the money back after it was paid: the merchant's balance has it again.
    bank_acts()
    assert ledger.news() == [
        ("payout_paid", "payouts_in_transit", 7_785),
        ("payout_paid", "bank", -7_785),
        ("payout_failed", "bank", 7_785),
        ("payout_failed", "merchant_payable", -7_785),
    ]
    assert (Payout.objects.get(id=payout.id).status, standing()["merchant_payable"]) == ("failed", -7_785)

    # The dispute is lost, which moves no more. The money goes to another account.
    a_week_passes()
    assert (Dispute.objects.get().status, ledger.news()) == ("lost", [])
    give_account(shop.merchant)
    assert make.make_now(schedule.id).amount == 7_785
    bank_acts()
    assert standing() == {"bank": 365 + 715 + DISPUTE_FEE, "fees": -(365 + 715 + DISPUTE_FEE)}
    assert broken_invariants() == []
