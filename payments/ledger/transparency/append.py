"""The sweep that appends the ledger's journals to the log, behind the commit horizon and in no charge's way.

Leaves, nodes and progress are one transaction, and one worker at a time holds the row of the progress. So a crash
leaves nothing half done, and no journal has two leaves.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import groupby
from secrets import token_bytes
from uuid import UUID

from django.db import connection, transaction

from payments import clock
from payments.db.commit_horizon import commit_horizon
from payments.db.scoped_queryset import FIRST_ID
from payments.failpoints import Failpoint, reached
from payments.ids import first_id
from payments.ledger.transparency.leaves import COLUMNS, Line, content_of, opening_of, shown
from payments.ledger.transparency.tree import grow, leaf_hash
from payments.models import LogLeaf, LogProgress

BATCH = 1_000
# What was committed behind the horizon, because it was written for long, is looked for this far back.
MISSED_WITHIN, BEHIND_AFTER = timedelta(hours=2), timedelta(hours=1)
SALT_BYTES = 16

# The first lines of journals that have no leaf.
NEW = """
SELECT id, journal, merchant_id, livemode FROM payments_posting p
WHERE line = 1 AND id > %(after)s AND id < %(below)s
AND NOT EXISTS (SELECT FROM payments_logleaf leaf WHERE leaf.journal = p.journal)
ORDER BY id LIMIT %(limit)s
"""
# All lines of some journals, by the indexes of what they are about.
LINES = " UNION ALL ".join(
    f"""
SELECT line.journal, {", ".join(f"line.{column}" for column in COLUMNS)}
FROM payments_posting first JOIN payments_posting line
ON line.{about} = first.{about} AND line.journal = first.journal AND line.merchant_id = first.merchant_id
WHERE first.id = ANY(%(ids)s)
"""  # nosec B608 # made of constants
    for about in ("charge_id", "payout_id")
)


def append(most_batches: int | None = 20, after: UUID | None = None) -> int:
    """Append at most this many batches of journals that are new; return how many."""
    LogProgress.objects.get_or_create(pk=1)
    appended, batches = 0, 0
    while most_batches is None or batches < most_batches:
        count, batches = _append_once(after), batches + 1
        appended += count
        if count < BATCH:
            break
    return appended


def append_missed(within: timedelta = MISSED_WITHIN) -> int:
    """Append the journals of the time `within` now that were read past; return how many."""
    return append(None, after=first_id(clock.now() - within))


def is_behind(progress: LogProgress) -> bool:
    """Return whether a journal waits for its leaf since before the last hour."""
    return bool(_new(progress.posting_id or FIRST_ID, first_id(clock.now() - BEHIND_AFTER), limit=1))


@transaction.atomic
def _append_once(after: UUID | None) -> int:
    """Append one batch: after the last journal that was read, or up to it from `after` on."""
    progress = LogProgress.objects.select_for_update(skip_locked=True).first()
    if progress is None:
        return 0
    read = progress.posting_id or FIRST_ID
    below = read if after else first_id(commit_horizon())
    new = _new(after or read, below, limit=BATCH)
    if not new:
        return 0
    reached(Failpoint.LEAVES_READ)
    leaves = [
        LogLeaf(number=number, journal=journal, merchant_id=merchant, livemode=mode, salt=token_bytes(SALT_BYTES))
        for number, (_, journal, merchant, mode) in enumerate(new, progress.size)
    ]
    LogLeaf.objects.bulk_create(leaves)
    reached(Failpoint.LEAVES_WRITTEN)
    lines = lines_of([posting_id for posting_id, *_ in new])
    grow(progress.size, [hash_of(leaf, lines[leaf.journal]) for leaf in leaves])
    progress.size += len(leaves)
    progress.posting_id = read if after else new[-1][0]
    progress.save()
    reached(Failpoint.TREE_GROWN)
    return len(leaves)


def _new(after: UUID, below: UUID, limit: int) -> list[tuple[UUID, UUID, UUID, bool]]:
    with connection.cursor() as cursor:
        cursor.execute(NEW, {"after": after, "below": below, "limit": limit})
        return cursor.fetchall()


def hash_of(leaf: LogLeaf, lines: Sequence[Line]) -> bytes:
    """Return the hash of the leaf of a journal with these lines."""
    return leaf_hash(content_of(bytes(leaf.salt), opening_of(str(leaf.journal), lines), lines))


def lines_of(first_lines: Sequence[UUID]) -> Mapping[UUID, Sequence[Line]]:
    """Return the lines, in order, of the journals that these postings begin, or belong to."""
    with connection.cursor() as cursor:
        cursor.execute(f"{LINES} ORDER BY journal, line", {"ids": list(first_lines)})
        rows = cursor.fetchall()
    return {journal: [shown(row) for _, *row in own] for journal, own in groupby(rows, key=lambda row: row[0])}
