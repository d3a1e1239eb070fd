"""What stands on a merchant's accounts."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Sum

from payments.models import Posting
from payments.money import DEFAULT_CURRENCY

Account = Posting.Account


@dataclass(slots=True)
class Balance:
    """Amounts of one currency in its smallest unit; below zero where the merchant owes.

    `available` is settled, `pending` is captured and not settled, both less fees and all refunds asked; `held` can
    still be captured.
    """

    available: int = 0
    pending: int = 0
    held: int = 0


SHOWN: Mapping[str, str] = {
    Account.MERCHANT_PAYABLE: "available",
    Account.MERCHANT_PENDING: "pending",
    Account.MERCHANT_HOLD: "held",
}


def balances_of(merchant_id: UUID, livemode: bool) -> Mapping[str, Balance]:
    """The merchant's balance in each currency that it ever used, in the currency that is the default at least."""
    postings = Posting.objects.of(merchant_id, livemode).filter(account__in=SHOWN)
    sums = postings.values("account", "currency").annotate(total=Sum("amount"))
    balances: defaultdict[str, Balance] = defaultdict(Balance, {DEFAULT_CURRENCY: Balance()})
    for account, currency, total in sums.values_list("account", "currency", "total"):
        # What we owe is a credit, and so below zero in the books.
        setattr(balances[currency], SHOWN[account], -total)
    return dict(sorted(balances.items()))
