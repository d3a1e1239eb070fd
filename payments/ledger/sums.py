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
TOTALS = "sum(debits), sum(credits), sum(postings)"
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


class Moves(NamedTuple):
    """The balances before some time and after it, and what moved in between, all of one snapshot of the ledger."""

    before: list[Sum]
    within: list[Sum]
    after: list[Sum]


def sums(scope: Scope, by: Sequence[str], until: datetime, since: datetime | None = None) -> list[Sum]:
    """Return the sums of `scope` from `since` (a midnight; None: the beginning) to before `until`, grouped `by`.

    They are in the order of `by`, which has names of COLUMNS.
    """
    moved, values = _moved(scope, since or EVER, until)
    names = ", ".join(COLUMNS[COLUMNS.index(name)] for name in by)
    statement = f"""
        SELECT {names}, {TOTALS} FROM ({moved}) AS moved GROUP BY {names} ORDER BY {names}
    """  # nosec B608 # made of constants
    return [Sum(tuple(row[:-3]), *map(int, row[-3:])) for row in _rows(statement, values)]


def moves(scope: Scope, since: datetime, until: datetime) -> Moves:
    """Return what moved by currency, day, kind and account from `since`, a midnight, to before `until`.

    The balances around it are by currency and account. One statement reads all: what is posted meanwhile is in none.
    """
    moved, values = _moved(scope, EVER, until)
    statement = f"""
        WITH moved AS MATERIALIZED ({moved})
        SELECT 0, currency, NULL, NULL, account, {TOTALS} FROM moved WHERE day < %(since_day)s GROUP BY 2, 5
        UNION ALL
        SELECT 1, currency, day, kind, account, {TOTALS} FROM moved WHERE day >= %(since_day)s GROUP BY 2, 3, 4, 5
        UNION ALL
        SELECT 2, currency, NULL, NULL, account, {TOTALS} FROM moved GROUP BY 2, 5
        ORDER BY 1, 2, 3, 4, 5
    """  # nosec B608 # made of constants
    found = Moves([], [], [])
    for part, currency, day, kind, account, *totals in _rows(statement, values | {"since_day": since.date()}):
        key = (currency, day, kind, account) if part == 1 else (currency, account)
        found[part].append(Sum(key, *map(int, totals)))
    return found


def _moved(scope: Scope, since: datetime, until: datetime) -> tuple[str, dict[str, Any]]:
    """Return the query for the sums of each day, merchant, mode, currency, account and kind, and its parameters."""
    live = max(since, min(midnight(first_unsummed() or since.date()), midnight(until.date())))
    parts = [SUMMED]
    values = scope.values | {"first_day": since.date(), "live_day": min(live, until).date()}
    if live < until:
        parts.append(LIVE)
        values |= bounds(live, until)
    return " UNION ALL ".join(parts), values


def _rows(statement: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()


def is_final(until: datetime) -> bool:
    """Return whether every day before `until` has its sums, so that nothing before it can change."""
    unsummed = first_unsummed()
    return unsummed is not None and until <= midnight(unsummed)
