"""Object IDs: a UUIDv7 (RFC 9562) in the database, prefix + underscore + 32 hex digits in the API."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, SafeUUID

import uuid_utils

from payments import clock

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# What the IDs are of that merchants see, by prefix.
KINDS = {
    "src": "source",
    "card": "card",
    "ch": "charge",
    "re": "refund",
    "cus": "customer",
    "cs": "checkout session",
    "pr": "payment request",
    "plink": "payment link",
    "dp": "dispute",
    "ev": "evidence piece",
    "po": "payout",
    "txn": "balance transaction",
    "evt": "event",
    "we": "webhook endpoint",
    "req": "request",
    "mer": "merchant",
}
_new, _set, _IS_SAFE = object.__new__, object.__setattr__, SafeUUID.unknown
HEX = re.compile(r"[0-9a-f]{32}")


def new_id(moment: datetime | None = None) -> UUID:
    """Return a new time-ordered UUIDv7: of now, or of the millisecond of `moment`."""
    moment = moment or clock.fixed()
    made = uuid_utils.uuid7(nanoseconds=_milliseconds(moment) * 1_000_000) if moment else uuid_utils.uuid7()
    # The library's own module of Python's UUIDs does the same in three calls more; a charge makes twelve.
    uuid = _new(UUID)
    _set(uuid, "int", made.int)
    _set(uuid, "is_safe", _IS_SAFE)
    return uuid


def imported_id(fingerprint: bytes) -> UUID:
    """Return the ID of what was imported, of its `import_fingerprint`: a UUIDv8 that sorts before all made here."""
    digest = int.from_bytes(fingerprint[:10])
    return UUID(int=digest & ~(0xF << 76 | 0x3 << 62) | 0x8 << 76 | 0x2 << 62)


def is_imported(uuid: UUID) -> bool:
    """Return whether an ID is one of `imported_id`."""
    return not uuid.int >> 80


def first_id(moment: datetime) -> UUID:
    """Return the lowest ID of the millisecond of `moment`."""
    return UUID(int=_milliseconds(moment) << 80)


def first_id_after(moment: datetime) -> UUID:
    """Return the lowest ID of the next millisecond, which `datetime` cannot say of its last moment."""
    return UUID(int=_milliseconds(moment) + 1 << 80)


def moment_of(uuid: UUID) -> datetime:
    """Return the millisecond in which an ID was made."""
    return EPOCH + timedelta(milliseconds=uuid.int >> 80)


def _milliseconds(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(milliseconds=1)


def public_id(prefix: str, uuid: UUID | str) -> str:
    """Return `ch` and a UUID, or PostgreSQL's text of one, as `ch_0190…`, the form that merchants see."""
    if isinstance(uuid, str):
        return f"{prefix}_{uuid.replace('-', '')}"
    return f"{prefix}_{uuid.int:032x}"


def shown_as(prefix: str) -> Callable[[Any], str]:
    """Return the `__str__` of a model whose rows are known by their public ID."""

    def text(row: Any) -> str:
        return public_id(prefix, row.id)

    vars(text)["prefix"] = prefix
    return text


def prefix_of(model: type) -> str | None:
    """Return the prefix of the public IDs that the rows of `model` are known by; None where it has no such one."""
    return getattr(model.__str__, "prefix", None)


def short_reference(uuid: UUID) -> str:
    """Return the end of an ID as payers read it to a shop: `4F7A 91C2`."""
    digits = uuid.hex[-8:].upper()
    return f"{digits[:4]} {digits[4:]}"


def parse_id(prefix: str, text: str) -> UUID | None:
    """Return the UUID inside a public ID, or None where `text` is not one with this prefix."""
    head, _, digits = text.partition("_")
    return UUID(hex=digits) if head == prefix and HEX.fullmatch(digits) else None
