"""Account balances of tests, and settlement."""

from collections import Counter
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import Sum

from payments.domain.merchants import terms
from payments.ids import parse_id
from payments.ledger import settlement
from payments.ledger.fees import Rate
from payments.models import Charge, Merchant, Posting
from tests.charging.elapsed_time import let_time_pass

RATE = Rate(basis_points=350, fixed=15)


def charge_fees(merchant: Merchant, rate: Rate = RATE, *currencies: str) -> None:
    """Set the merchant's `rate` for card charges, by default in pesos."""
    for currency in currencies or ["PHP"]:
        terms.set_fee(merchant, "card", currency, rate)
    merchant.refresh_from_db()


def accounts(**of: Any) -> Counter[str]:
    """Return the balance of each account, of all postings or of those that match `of`."""
    sums = Posting.objects.filter(**of).values("account").annotate(total=Sum("amount"))
    return Counter({row["account"]: row["total"] for row in sums})


def standing(**of: Any) -> Mapping[str, int]:
    """Return `accounts` without those with a balance of zero."""
    return {account: total for account, total in accounts(**of).items() if total}


def settle() -> int:
    """End the day and settle what is due; return how many charges."""
    let_time_pass(Charge, "settle_due_at")
    return settlement.settle_all_due()


def row_of(charge: dict[str, Any]) -> Charge:
    """Return the row of a charge that the API showed."""
    return Charge.objects.get(id=uuid_of(charge))


def uuid_of(charge: dict[str, Any]) -> UUID:
    uuid = parse_id("ch", charge["id"])
    assert uuid
    return uuid
