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
from payments.ledger.transparency.leaves import READ, Line, content_of, opening_of, shown
from payments.ledger.transparency.tree import grow, leaf_hash
from payments.models import LogProgress, Posting

BATCH = 1_000
# What was committed behind the horizon, because it was written for long, is looked for so often, from so long before
# the last look on.
LOOKED_EVERY, MISSED_WITHIN, BEHIND_AFTER = timedelta(hours=1), timedelta(hours=2), timedelta(hours=1)
# Postings that one statement looks through at most, so that it ends within the time-out.
SLICE = 50_000
SALT_BYTES = 16

# The first lines of journals that have no leaf.
NEW = """
SELECT id, journal, merchant_id, livemode FROM payments_posting p
WHERE line = 1 AND id > %(after)s AND id <= %(end)s
AND NOT EXISTS (SELECT FROM payments_logleaf leaf WHERE leaf.journal = p.journal)
ORDER BY id LIMIT %(limit)s
"""
# All lines of some journals, by the indexes of what they are about.
LINES = " UNION ALL ".join(
    f"""
SELECT line.journal, {READ}
FROM payments_posting first JOIN payments_posting line
ON line.{about} = first.{about} AND line.journal = first.journal AND line.merchant_id = first.merchant_id
WHERE first.id = ANY(%(ids)s)
"""  # nosec B608 # made of constants
    for about in ("charge_id", "payout_id")
)
INSERT = """
INSERT INTO payments_logleaf (number, journal, merchant_id, livemode, salt)
SELECT * FROM unnest(%s::bigint[], %s::uuid[], %s::uuid[], %s::boolean[], %s::bytea[])
"""


def append(most_batches: int | None = 20) -> int:
    """Append at most this many batches of journals that are new; return how many."""
    LogProgress.objects.get_or_create(pk=1)
    appended, batches = 0, 0
    while most_batches is None or batches < most_batches:
        count, batches = _append_once(), batches + 1
        appended += count
        if count < BATCH:
            break
    return appended


def append_missed(within: timedelta = MISSED_WITHIN) -> int:
    """Append the journals of the time `within` now that were read past; return how many."""
    progress = LogProgress.objects.get_or_create(pk=1)[0]
    appended, after, read = 0, first_id(clock.now() - within), progress.posting_id or FIRST_ID
    while after < read:
        lines = Posting.objects.filter(id__gt=after, id__lte=read).order_by("id").values_list("id", flat=True)
        end = lines[SLICE - 1 : SLICE].first() or read
        while count := _append_once(after, end):
            appended += count
        after = end
    return appended


def append_missed_if_due() -> int:
    """Append what was read past, once an hour, also after hours without a worker; return how many."""
    now, looked_at = clock.now(), LogProgress.objects.get_or_create(pk=1)[0].looked_at
    if now - LOOKED_EVERY < looked_at <= now:
        return 0
    appended = append_missed(now - min(now, looked_at) + MISSED_WITHIN)
    LogProgress.objects.update(looked_at=now)
    return appended


def is_behind(progress: LogProgress) -> bool:
    """Return whether a journal waits for its leaf since before the last hour."""
    return bool(_new(progress.posting_id or FIRST_ID, first_id(clock.now() - BEHIND_AFTER), limit=1))


@transaction.atomic
def _append_once(after: UUID | None = None, end: UUID | None = None) -> int:
    """Append one batch: after the last journal that was read, or of those that were read past up to `end`."""
    # A look that passed a slice by would miss what is in it.
    progress = LogProgress.objects.select_for_update(skip_locked=end is None).first()
    if progress is None:
        return 0
    read = progress.posting_id or FIRST_ID
    new = _new(after or read, end or first_id(commit_horizon()), limit=BATCH)
    if not new:
        return 0
    reached(Failpoint.LEAVES_READ)
    ids, journals, merchants, modes = zip(*new, strict=True)
    numbers, salts = range(progress.size, progress.size + len(new)), [token_bytes(SALT_BYTES) for _ in new]
    with connection.cursor() as cursor:
        cursor.execute(INSERT, [*map(list, (numbers, journals, merchants, modes)), salts])
    reached(Failpoint.LEAVES_WRITTEN)
    lines = lines_of(ids)
    grow(progress.size, [hash_of(*leaf, lines[leaf[0]]) for leaf in zip(journals, salts, strict=True)])
    progress.size += len(new)
    progress.posting_id = read if end else ids[-1]
    progress.save()
    reached(Failpoint.TREE_GROWN)
    return len(new)


def _new(after: UUID, end: UUID, limit: int) -> list[tuple[UUID, UUID, UUID, bool]]:
    with connection.cursor() as cursor:
        cursor.execute(NEW, {"after": after, "end": end, "limit": limit})
        return cursor.fetchall()


def hash_of(journal: UUID, salt: bytes, lines: Sequence[Line]) -> bytes:
    """Return the hash of the leaf of a journal with these lines."""
    return leaf_hash(content_of(salt, opening_of(str(journal), lines), lines))


def lines_of(first_lines: Sequence[UUID]) -> Mapping[UUID, Sequence[Line]]:
    """Return the lines, in order, of the journals that these postings begin, or belong to."""
    with connection.cursor() as cursor:
        cursor.execute(f"{LINES} ORDER BY journal, line", {"ids": list(first_lines)})
        rows = cursor.fetchall()
    return {journal: [shown(row) for _, *row in own] for journal, own in groupby(rows, key=lambda row: row[0])}
