"""What single payouts changed of a merchant's available balance, as the lines of a statement show it."""

from datetime import date, datetime
from typing import NamedTuple
from uuid import UUID

from payments.ledger.account_days import bounds
from payments.models import Posting

# In the order of a day's rows, in few words, because the payout's ID follows.
LINE_WORDS: dict[str, str] = {
    Posting.Kind.PAYOUT: "Paid out",
    Posting.Kind.RESERVE: "Reserved",
    Posting.Kind.RESERVE_RELEASE: "Released",
    Posting.Kind.PAYOUT_FAILED: "Came back",
    Posting.Kind.PAYOUT_LATE: "Paid out late",
}
# Of one statement. A merchant with daily payouts in ten currencies has half of it.
LINES_MAX = 2_000


class PayoutLine(NamedTuple):
    """One posting of a payout: what the merchant got, negative where it was paid out."""

    currency: str
    day: date
    kind: str
    payout_id: UUID
    amount: int


def payout_lines(merchant_id: UUID, livemode: bool, since: datetime, until: datetime) -> list[PayoutLine]:
    """Return the first LINES_MAX lines from `since` to before `until`, the oldest first."""
    times = bounds(since, until)
    found = Posting.objects.of(merchant_id, livemode).filter(
        account=Posting.Account.MERCHANT_PAYABLE,
        payout__isnull=False,
        id__gte=times["first_id"],
        id__lt=times["next_id"],
        created_at__gte=since,
        created_at__lt=until,
    )
    rows = found.order_by("id").values_list("currency", "created_at", "kind", "payout_id", "amount")[:LINES_MAX]
    return [
        PayoutLine(currency, moment.date(), kind, payout_id, -amount)
        for currency, moment, kind, payout_id, amount in rows
    ]
