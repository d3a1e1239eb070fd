"""Object IDs: a native UUIDv7 (RFC 9562) inside, prefix + underscore + 32 hex digits at the edge."""

import re
from datetime import datetime
from uuid import UUID

from uuid_utils.compat import uuid7

from payments import clock

HEX = re.compile(r"[0-9a-f]{32}")


def new_id() -> UUID:
    """A new time-ordered UUIDv7."""
    told = clock.told()
    return uuid7(nanoseconds=int(told.timestamp() * 1_000_000) * 1000) if told else uuid7()


def first_id(moment: datetime) -> UUID:
    """The lowest ID that `new_id` can give from `moment` on."""
    return UUID(int=int(moment.timestamp() * 1000) << 80)


def public_id(prefix: str, uuid: UUID) -> str:
    """`ch` and a UUID as `ch_0190…`, the form that merchants see."""
    return f"{prefix}_{uuid.hex}"


def parse_id(prefix: str, text: str) -> UUID | None:
    """The UUID inside a public ID, or None where `text` is not one with this prefix."""
    head, _, digits = text.partition("_")
    return UUID(hex=digits) if head == prefix and HEX.fullmatch(digits) else None
