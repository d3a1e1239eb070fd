"""Whether the simulator's books and our ledger hold the model's money, charge by charge."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from payments.ids import parse_id
from payments.invariants.checks import check, read_only_snapshot
from payments.invariants.registry import INVARIANTS
from payments.models import Attempt, Merchant, Posting
from payments.providers.simulator.models import Entry
from tests.machine.model import Charge
from tests.payouts.readings import kept_balances, listed_balances

PLACES = {
    "provider_hold": "held by the provider",
    "merchant_hold": "held for the merchant",
    "provider_receivable": "at the provider or in the bank",
    "bank": "at the provider or in the bank",
    "merchant_pending": "the merchant's, or its fee",
    "merchant_payable": "the merchant's, or its fee",
    "fees": "the merchant's, or its fee",
    "refunds_in_transit": "on its way back",
}


def check_books(charges: Iterable[Charge]) -> None:
    """Fails where the money of a charge, of which everything is found out, is not what the model says."""
    for charge in charges:
        uuid = parse_id("ch", charge.name)
        reference = Attempt.objects.get(charge_id=uuid, kind="authorize").reference
        # What the payer's bank took is written by the history itself; an invariant compares it.
        entries = Entry.objects.filter(payment__reference=reference).exclude(kind__startswith="dispute")
        entries = entries.values_list("kind", "amount")
        assert _summed(entries) == _expected_entries(charge), charge
        postings = Posting.objects.filter(charge_id=uuid).values_list("account", "amount")
        assert _summed((PLACES[account], amount) for account, amount in postings) == _expected_sums(charge), charge
        fees = postings.filter(kind="dispute_fee", account="fees")
        fee = charge.dispute.fee if charge.dispute and charge.dispute.withdrawn else 0
        assert -sum(amount for _, amount in fees) == fee, charge


def check_invariants(merchant: Merchant) -> None:
    """Fails where a merchant's rows break an invariant of the money, or its transactions are not its balance."""
    with read_only_snapshot():
        found = [check(invariant, merchant.id) for invariant in INVARIANTS if invariant.of_merchants]
        assert listed_balances(merchant.id) == kept_balances(merchant.id)
    assert [(finding.invariant.name, finding.ids) for finding in found if finding.count] == []


def _expected_entries(charge: Charge) -> dict[str, int]:
    if charge.stage in ("pending", "failed"):
        return {}
    held = 0 if charge.capture_at_once else charge.amount
    arrived = [refund for refund in charge.refunds if refund.arrived]
    return _without_nothing(
        {
            "hold": held,
            "capture": charge.amount_captured,
            "release": held - charge.amount_captured if held and charge.stage != "held" else 0,
            "void": charge.amount_captured if charge.stage == "voided" else 0,
            "refund": sum(refund.amount for refund in arrived),
            "refund_returned": sum(refund.amount for refund in arrived if refund.status == "failed"),
        }
    )


def _expected_sums(charge: Charge) -> dict[str, int]:
    held = charge.amount if charge.stage == "held" else 0
    taken = charge.amount_captured if charge.stage == "captured" else 0
    under_way = sum(refund.amount for refund in charge.refunds if refund.status == "pending")
    given_back = charge.amount_refunded - under_way
    return _without_nothing(
        {
            "held by the provider": held,
            "held for the merchant": -held,
            "at the provider or in the bank": taken - given_back - charge.amount_disputed,
            "the merchant's, or its fee": charge.amount_refunded - taken + charge.amount_disputed,
            "on its way back": -under_way,
        }
    )


def _summed(lines: Iterable[Any]) -> dict[str, int]:
    sums: Counter[str] = Counter()
    for what, amount in lines:
        sums[what] += amount
    return _without_nothing(sums)


def _without_nothing(sums: dict[str, int]) -> dict[str, int]:
    return {what: amount for what, amount in sums.items() if amount}
