"""Verification of the audit log's hash chain: no entry is missing, changed or out of order."""

from collections.abc import Iterator

from payments.invariants.checks import read_only_snapshot
from payments.models import AuditEntry, AuditHead
from payments.models.operators.audit import GENESIS

CHUNK_SIZE = 2_000


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
        number, last = 0, GENESIS
        for entry in AuditEntry.objects.order_by("number").iterator(CHUNK_SIZE):
            number += 1
            if entry.number != number:
                raise Broken(f"Entry {entry.number} stands where entry {number} should.")
            if bytes(entry.previous_hash) != last:
                raise Broken(f"Entry {number} does not follow entry {number - 1}: one of them is not what was written.")
            last = bytes(entry.hash)
            if last != entry.sealed():
                raise Broken(f"Entry {number} was changed.")
            yield last
        head = AuditHead.objects.first() or AuditHead()
        if head.number != number:
            raise Broken(f"The log ends at entry {number}, where entry {head.number} was written last.")
        if bytes(head.hash) != last:
            raise Broken(f"The log ends at entry {number} with another hash than was written last.")
