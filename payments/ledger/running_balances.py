"""Running balances: the balance of one account after each of its days, and after each posting of a day."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from django.db import connection

from payments.ledger.account_days import DAY, bounds, midnight
from payments.ledger.sums import Scope, Sum, sums
from payments.models import Posting

LENGTH = 100
# The sums of the whole day are read by its IDs; they give the balance before the page, and the page follows.
PAGE = """
WITH of_day AS (
    SELECT id, sum(amount) OVER (ORDER BY id) AS moved FROM payments_posting
    WHERE id >= %(first_id)s AND id < %(next_id)s AND created_at >= %(since)s AND created_at < %(until)s
        AND merchant_id = %(merchant)s AND livemode = %(livemode)s AND currency = %(currency)s
        AND account = %(account)s
)
SELECT id, moved FROM of_day WHERE %(after)s::uuid IS NULL OR id > %(after)s ORDER BY id LIMIT %(limit)s
"""


@dataclass(frozen=True)
class AccountOf:
    """One account of a merchant in one mode and currency."""

    merchant_id: UUID
    livemode: bool
    currency: str
    account: str

    @property
    def scope(self) -> Scope:
        return Scope([self.merchant_id], self.livemode, self.currency, [self.account])

    def balance(self, until: datetime) -> int:
        """Return its balance just before `until`; debits are positive."""
        return sum(row.balance for row in sums(self.scope, ("account",), until))


@dataclass(frozen=True)
class Days:
    """The days of some time on which an account moved, each with its balance at the end, and the balance before."""

    opening: int
    rows: Sequence[tuple[Sum, int]]

    @property
    def closing(self) -> int:
        return self.rows[-1][1] if self.rows else self.opening


@dataclass(frozen=True)
class Page:
    """Some postings of a day, oldest first, each with the balance after it, and the ID after which more follow."""

    opening: int
    rows: Sequence[tuple[Posting, int]]
    more_after: UUID | None


def days_of(account: AccountOf, first: date, until: datetime) -> Days:
    """Return the days from `first` to before `until`."""
    opening = balance = account.balance(midnight(first))
    rows = []
    for row in sums(account.scope, ("day",), until, since=midnight(first)):
        balance += row.balance
        rows.append((row, balance))
    return Days(opening, rows)


def page_of(account: AccountOf, day: date, after: UUID | None = None, length: int = LENGTH) -> Page:
    """Return the next `length` postings of `day` after the ID `after`."""
    opening = account.balance(midnight(day))
    values = bounds(midnight(day), midnight(day + DAY)) | {
        "merchant": account.merchant_id,
        "livemode": account.livemode,
        "currency": account.currency,
        "account": account.account,
        "after": after,
        "limit": length + 1,
    }
    with connection.cursor() as cursor:
        cursor.execute(PAGE, values)
        found = cursor.fetchall()
    rows_of_page = Posting.objects.select_related("charge__source__card")
    postings = rows_of_page.in_bulk([posting_id for posting_id, _ in found[:length]])
    rows = [(postings[posting_id], opening + int(moved)) for posting_id, moved in found[:length]]
    return Page(opening, rows, found[length - 1][0] if len(found) > length else None)
