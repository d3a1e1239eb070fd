"""A check of a charge's postings against its row and its refunds."""

from django.db.models import Sum

from payments.ledger.fees import Rate, fee_of
from payments.models import Charge, Posting
from tests.ledger.books import RATE, standing


def check_books(charge: Charge, rate: Rate = RATE) -> None:
    """Assert that postings and rows agree, and that unsettled money has a settlement day."""
    stands = standing(charge=charge)
    settled, unsettled = stands.pop("bank", 0), stands.pop("provider_receivable", 0)
    payable, pending = stands.pop("merchant_payable", 0), stands.pop("merchant_pending", 0)
    expected = expected_of(charge, rate)
    assert settled + unsettled == expected.pop("provider")
    assert payable + pending == expected.pop("merchant")
    assert stands == {account: total for account, total in expected.items() if total}
    assert charge.settle_due_at or not (unsettled or pending)
    journals = Posting.objects.filter(charge=charge).values("journal")
    assert {journal["total"] for journal in journals.annotate(total=Sum("amount"))} <= {0}


def expected_of(charge: Charge, rate: Rate) -> dict[str, int]:
    """Return the account balances that follow from a charge's row and its refunds."""
    refunds = {row["status"]: row["total"] for row in charge.refunds.values("status").annotate(total=Sum("amount"))}
    taken = charge.amount_captured if charge.status != "voided" else 0
    fee = fee_of(taken, rate)
    held = charge.amount if charge.authorized else 0
    return {
        "provider": taken - refunds.get("succeeded", 0),
        "merchant": -(taken - charge.amount_refunded - fee),
        "refunds_in_transit": -refunds.get("pending", 0),
        "fees": -fee,
        "provider_hold": held,
        "merchant_hold": -held,
    }
