"""Verification of the audit log's hash chain: no entry is missing, changed or out of order."""

from collections.abc import Iterable, Iterator

from payments.invariants.checks import read_only_snapshot
from payments.models import AuditEntry, AuditHead
from payments.models.operators.audit import GENESIS

BATCH_ENTRIES = 2_000


class Broken(Exception):
    """The first fault in the chain; the message names its entry."""


def count() -> int:
    """Return the number of entries."""
    return AuditEntry.objects.count()


def verified_hashes() -> Iterator[bytes]:
    """Yield the hash of each verified entry, from the first to the last. Raises Broken.

    It reads one snapshot of the log and blocks nobody who adds an entry meanwhile.
    """
    with read_only_snapshot():
        head = AuditHead.objects.first() or AuditHead()
        if (loose := AuditEntry.objects.filter(number=None).order_by("id").first()) is not None:
            raise Broken(f"The entry with the ID {loose.pk} is not in the chain.")
        yield from _follow(_entries(), 0, GENESIS, head)


def _entries() -> Iterator[AuditEntry]:
    entries = AuditEntry.objects.filter(number__isnull=False).order_by("number")
    rest = entries
    while batch := list(rest[:BATCH_ENTRIES]):
        yield from batch
        rest = entries.filter(number__gt=batch[-1].number)


def newest_fault(most: int) -> str:
    """Return the first fault among the newest `most` entries, "" if they follow each other up to the head."""
    head = AuditHead.objects.first() or AuditHead()
    # Others may be added between the two reads.
    entries = list(AuditEntry.objects.filter(number__lte=head.number).order_by("-number")[:most])[::-1]
    number, last = 0, GENESIS
    if entries:
        number, last = (entries[0].number or 0) - 1, bytes(entries[0].previous_hash or b"")
    try:
        for _ in _follow(entries, number, last, head):
            pass
    except Broken as fault:
        return str(fault)
    return ""


def _follow(entries: Iterable[AuditEntry], number: int, last: bytes, head: AuditHead) -> Iterator[bytes]:
    """Yield the hash of each of `entries` after entry `number`, whose hash is `last`. Raises Broken."""
    for entry in entries:
        number += 1
        if entry.number != number:
            raise Broken(f"Entry {entry.number} stands where entry {number} should.")
        if bytes(entry.previous_hash or b"") != last:
            raise Broken(f"Entry {number} does not follow entry {number - 1}: one of them is not what was written.")
        last = bytes(entry.hash)
        if last != entry.linked_hash():
            raise Broken(f"Entry {number} was changed.")
        yield last
    if head.number != number:
        raise Broken(f"The log ends at entry {number}, where entry {head.number} was written last.")
    if bytes(head.hash) != last:
        raise Broken(f"The log ends at entry {number} with another hash than was written last.")
