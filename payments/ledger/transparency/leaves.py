"""The bytes of a leaf: what a journal moved, and a salted reference to what it is about.

`payments/verify/kaha_verify/books.py` makes them again. To change them would break every log.
"""

import hashlib
from collections.abc import Sequence
from json import JSONEncoder
from typing import Any

from payments.clock import iso

# The columns of a line, in the order of an export.
COLUMNS = (
    *("id", "line", "account", "kind", "amount", "currency", "livemode", "created_at"),
    *("merchant_id", "charge_id", "payout_id", "attempt_id", "settlement_id"),
)
# Those that PostgreSQL writes as texts, and what a statement reads of a posting `line`.
TEXTS = [name for name in COLUMNS if name.endswith(("id", "_at"))]
READ = ", ".join(f"line.{name}{'::text' if name in TEXTS else ''}" for name in COLUMNS)
MOMENT = COLUMNS.index("created_at")
# Those that anybody reads who is shown the leaf; the others are in the reference.
OPEN = slice(1, 8)
VERSION = "kaha leaf 1"
Line = Sequence[Any]
in_json = JSONEncoder(separators=(",", ":")).encode


def shown(row: Sequence[Any]) -> Line:
    """Return what was READ of a posting as JSON has it."""
    return [*row[:MOMENT], iso(row[MOMENT]), *row[MOMENT + 1 :]]


def opening_of(journal: str, lines: Sequence[Line]) -> str:
    """Return what a reference stands for: the journal, the IDs of its lines and of what they are about."""
    return in_json([journal, [[line[0], *line[OPEN.stop :]] for line in lines]])


def content_of(salt: bytes, opening: str, lines: Sequence[Line]) -> bytes:
    """Return the content of the leaf of a journal."""
    reference = hashlib.sha256(salt + opening.encode()).hexdigest()
    return in_json([VERSION, reference, [line[OPEN] for line in lines]]).encode()
