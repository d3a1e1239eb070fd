"""The bytes of a leaf: what a journal moved, and a salted reference to what it is about.

`payments/verify/kaha_verify/books.py` makes them again. To change them would break every log.
"""

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from payments.clock import iso

# The columns of a line, in the order of an export.
COLUMNS = (
    *("id", "line", "account", "kind", "amount", "currency", "livemode", "created_at"),
    *("merchant_id", "charge_id", "payout_id", "attempt_id", "settlement_id"),
)
# Those that anybody reads who is shown the leaf; the others are in the reference.
OPEN = slice(1, 8)
VERSION = "kaha leaf 1"
Line = Sequence[Any]


def shown(row: Sequence[Any]) -> Line:
    """Return the COLUMNS of a posting as JSON has them."""
    return [_shown(value) for value in row]


def _shown(value: Any) -> Any:
    if isinstance(value, datetime):
        return iso(value)
    return str(value) if isinstance(value, UUID) else value


def opening_of(journal: str, lines: Sequence[Line]) -> str:
    """Return what a reference stands for: the journal, the IDs of its lines and of what they are about."""
    return _json([journal, [[line[0], *line[OPEN.stop :]] for line in lines]])


def content_of(salt: bytes, opening: str, lines: Sequence[Line]) -> bytes:
    """Return the content of the leaf of a journal."""
    reference = hashlib.sha256(salt + opening.encode()).hexdigest()
    return _json([VERSION, reference, [line[OPEN] for line in lines]]).encode()


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
