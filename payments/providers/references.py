"""References: our names for requests to a provider. A reference is an attempt's ID in hex, or is derived from it.

A follow-up of an attempt has a reference of its own, the same on every retry. A UUIDv7 has a 7 as its version; another
digit in that place says which step it is.
"""

import re
from enum import StrEnum
from uuid import UUID

from payments import ids

VERSION_AT = 12
ATTEMPT, TRIAL, CHECK = "7", "d", "e"
REFERENCE = re.compile(r"[0-9a-f]{32}")


class FollowUp(StrEnum):
    """A follow-up of an attempt; the value is the kind of the operation."""

    CANCEL = "cancel"  # end a payment whose payer did not act in time
    REFUND = "refund"  # refund late money that cannot be voided


DIGITS = {FollowUp.CANCEL: "c", FollowUp.REFUND: "f"}
STEPS = {digit: step for step, digit in DIGITS.items()}


def reference_of(attempt_id: UUID, step: FollowUp) -> str:
    """Return the reference of a follow-up step of the attempt with this ID."""
    return _marked(attempt_id, DIGITS[step])


def trial_reference() -> str:
    """Return a reference for testing a connection, which belongs to no charge."""
    return _marked(ids.new_id(), TRIAL)


def check_reference(source_id: UUID) -> str:
    """Return the reference of the check of a source's card, which belongs to no charge."""
    return _marked(source_id, CHECK)


def source_of_check(reference: str) -> UUID:
    """Return the ID of the source whose card is checked under `reference`."""
    return UUID(hex=_marked(UUID(hex=reference), ATTEMPT))


def is_check(text: str) -> bool:
    """Return whether `text` is the reference of a check of a card."""
    return REFERENCE.fullmatch(text) is not None and text[VERSION_AT] == CHECK


def is_trial(text: str) -> bool:
    """Return whether `text` is the reference of a test."""
    return REFERENCE.fullmatch(text) is not None and text[VERSION_AT] == TRIAL


def _marked(uuid: UUID, digit: str) -> str:
    return uuid.hex[:VERSION_AT] + digit + uuid.hex[VERSION_AT + 1 :]


def read_reference(text: str) -> tuple[UUID, FollowUp | None] | None:
    """Return the attempt's ID and the follow-up step, if any, of a reference; None for any other text."""
    if not REFERENCE.fullmatch(text):
        return None
    digit, attempt_id = text[VERSION_AT], UUID(hex=text[:VERSION_AT] + ATTEMPT + text[VERSION_AT + 1 :])
    if digit != ATTEMPT and digit not in STEPS:
        return None
    return attempt_id, STEPS.get(digit)
