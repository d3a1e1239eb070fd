"""Sums of the ledger between two moments, to the smallest unit: by account, kind and day, as a report needs them.

Days with sums are read from them, by an index; of the others, and of a part of a day, the postings are summed.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from payments.ledger.account_days import SUMS, bounds, first_unsummed, midnight

# What sums can be grouped by.
COLUMNS = ("merchant_id", "livemode", "currency", "account", "day", "kind")
SCOPED = """
    AND (%(merchants)s::uuid[] IS NULL OR merchant_id = ANY(%(merchants)s))
    AND (%(livemode)s::boolean IS NULL OR livemode = %(livemode)s)
    AND (%(currency)s::text IS NULL OR currency = %(currency)s)
    AND (%(accounts)s::text[] IS NULL OR account = ANY(%(accounts)s))
"""
SUMMED = f"""
SELECT merchant_id, livemode, currency, day, account, kind, debits, credits, postings FROM payments_accountday
WHERE day >= %(first_day)s AND day < %(live_day)s {SCOPED}
"""  # nosec B608 # made of constants
LIVE = f"{SUMS} {SCOPED} GROUP BY 1, 2, 3, 4, 5, 6"
# Before the first posting of any installation.
EVER = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Scope:
    """The postings that are summed: of some merchants, a mode, a currency and some accounts; None is all."""

    merchants: Collection[UUID] | None = None
    livemode: bool | None = None
    currency: str | None = None
    accounts: Collection[str] | None = None

    @property
    def values(self) -> dict[str, Any]:
        return {
            "merchants": None if self.merchants is None else list(self.merchants),
            "livemode": self.livemode,
            "currency": self.currency,
            "accounts": None if self.accounts is None else [str(account) for account in self.accounts],
        }


class Sum(NamedTuple):
    """What was debited and credited, and by how many postings; `key` has the values of the columns."""

    key: tuple[Any, ...]
    debits: int
    credits: int
    postings: int

    @property
    def balance(self) -> int:
        """Return debits less credits."""
        return self.debits - self.credits


def sums(scope: Scope, by: Sequence[str], until: datetime, since: datetime | None = None) -> list[Sum]:
    """Return the sums of `scope` from `since` (a midnight; None: the beginning) to before `until`, grouped `by`.

    They are in the order of `by`, which has names of COLUMNS.
    """
    since = since or EVER
    live = max(since, min(midnight(first_unsummed() or since.date()), midnight(until.date())))
    values = scope.values | {"first_day": since.date(), "live_day": min(live, until).date()}
    parts = [SUMMED]
    if live < until:
        parts.append(LIVE)
        values |= bounds(live, until)
    names = ", ".join(COLUMNS[COLUMNS.index(name)] for name in by)
    statement = f"""
        SELECT {names}, sum(debits), sum(credits), sum(postings) FROM ({" UNION ALL ".join(parts)}) AS moved
        GROUP BY {names} ORDER BY {names}
    """  # nosec B608 # made of constants
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return [Sum(tuple(row[:-3]), *map(int, row[-3:])) for row in cursor.fetchall()]


def is_final(until: datetime) -> bool:
    """Return whether every day before `until` has its sums, so that nothing before it can change."""
    unsummed = first_unsummed()
    return unsummed is not None and until <= midnight(unsummed)
