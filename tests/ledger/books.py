"""What the books say, and time that lets them be settled."""

from collections import Counter
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import Sum

from payments.domain import settlement
from payments.domain.merchants import terms
from payments.ids import parse_id
from payments.ledger.fees import Rate
from payments.models import Charge, Merchant, Posting
from tests.charging.passing import let_time_pass

RATE = Rate(basis_points=350, fixed=15)


def charge_fees(merchant: Merchant, rate: Rate = RATE, *currencies: str) -> None:
    """Has the merchant's card charges cost `rate`, in pesos unless told otherwise."""
    for currency in currencies or ["PHP"]:
        terms.set_fee(merchant, "card", currency, rate)


def accounts(**of: Any) -> Counter[str]:
    """What stands on each account, all postings together or those that the conditions `of` leave."""
    sums = Posting.objects.filter(**of).values("account").annotate(total=Sum("amount"))
    return Counter({row["account"]: row["total"] for row in sums})


def standing(**of: Any) -> Mapping[str, int]:
    """As `accounts`, without those on which nothing stands."""
    return {account: total for account, total in accounts(**of).items() if total}


def settle() -> int:
    """The day ends and what is due is settled; returns how many charges."""
    let_time_pass(Charge, "settle_due_at")
    return settlement.settle_all_due()


def row_of(charge: dict[str, Any]) -> Charge:
    """The row of a charge that the API showed."""
    return Charge.objects.get(id=uuid_of(charge))


def uuid_of(charge: dict[str, Any]) -> UUID:
    uuid = parse_id("ch", charge["id"])
    assert uuid
    return uuid
