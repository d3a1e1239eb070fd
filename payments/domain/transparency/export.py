"""The export of the books for `kaha-verify`: every journal with its place in the log, and every balance, as JSON lines.

It is one snapshot, read by a cursor on the server, so that its size does not matter.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from django.db import connection

from payments import clock
from payments.invariants.checks import read_only_snapshot
from payments.ledger.transparency.leaves import COLUMNS, READ, in_json, shown
from payments.ledger.transparency.tree import LEVEL_0_END
from payments.models import Posting

FORMAT = "kaha books 1"
ROWS_AT_ONCE = 5_000
# A journal may have lost its leaf, and a leaf its lines.
LINES = f"""
SELECT leaf.number, encode(leaf.salt, 'hex'), encode(node.hash, 'hex'), journal, {READ}
FROM payments_posting line FULL JOIN payments_logleaf leaf USING (journal)
LEFT JOIN payments_lognode node ON node.id = leaf.number AND node.id < {LEVEL_0_END}
ORDER BY leaf.number NULLS LAST, journal, line.line
"""  # nosec B608 # made of constants
BALANCES = f"""
SELECT merchant_id::text, livemode, currency, account, sum(amount)::bigint FROM payments_runningbalance,
LATERAL (VALUES {", ".join(f"('{each.value}', {each.value})" for each in Posting.Account)}) AS kept (account, amount)
GROUP BY 1, 2, 3, 4 HAVING sum(amount) <> 0 ORDER BY 1, 2, 3, 4
"""  # nosec B608 # made of constants


def lines() -> Iterator[str]:
    """Yield the lines of the export."""
    with read_only_snapshot():
        yield in_json({"format": FORMAT, "columns": COLUMNS, "made_at": clock.iso(clock.now())}) + "\n"
        count = 0
        for (number, salt, leaf_hash, journal), rows in groupby(_rows(LINES), key=lambda row: row[:4]):
            found = [shown(row[4:]) for row in rows if row[4]]
            leaf = {"leaf": number, "salt": salt, "hash": leaf_hash, "journal": str(journal), "lines": found}
            yield in_json(leaf) + "\n"
            count += 1
        for row in _rows(BALANCES):
            yield in_json({"balance": row}) + "\n"
        yield in_json({"end": count}) + "\n"


def _rows(statement: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a statement, few of which are in memory at once."""
    with connection.chunked_cursor() as cursor:
        cursor.execute(statement)
        while rows := cursor.fetchmany(ROWS_AT_ONCE):
            yield from rows
