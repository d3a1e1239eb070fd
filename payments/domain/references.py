"""Our names of what is asked of a provider: an attempt's ID in hex, or one that leads back to it.

What follows from an attempt by itself needs a name of its own, the same however often it is asked. A UUIDv7 has a 7 for
its version; another digit there says which step it is.
"""

import re
from enum import StrEnum
from uuid import UUID

from payments import ids

VERSION_AT = 12
ATTEMPT, TRIAL = "7", "d"
REFERENCE = re.compile(r"[0-9a-f]{32}")


class FollowUp(StrEnum):
    """What may follow from an attempt; the value is the kind of the operation."""

    CANCEL = "cancel"  # a payment whose payer let the time pass is ended
    REFUND = "refund"  # late money that cannot be voided is refunded


DIGITS = {FollowUp.CANCEL: "c", FollowUp.REFUND: "f"}
STEPS = {digit: step for step, digit in DIGITS.items()}


def reference_of(attempt_id: UUID, step: FollowUp) -> str:
    """The name of a step that follows from the attempt of this ID."""
    return _marked(attempt_id, DIGITS[step])


def trial_reference() -> str:
    """A name for what is asked to try a connection, which no charge of ours knows of."""
    return _marked(ids.new_id(), TRIAL)


def is_trial(text: str) -> bool:
    """Whether `text` is such a name."""
    return REFERENCE.fullmatch(text) is not None and text[VERSION_AT] == TRIAL


def _marked(uuid: UUID, digit: str) -> str:
    return uuid.hex[:VERSION_AT] + digit + uuid.hex[VERSION_AT + 1 :]


def read_reference(text: str) -> tuple[UUID, FollowUp | None] | None:
    """The ID of the attempt that `text` names, with the step if it names one; None for what is no name of ours."""
    if not REFERENCE.fullmatch(text):
        return None
    digit, attempt_id = text[VERSION_AT], UUID(hex=text[:VERSION_AT] + ATTEMPT + text[VERSION_AT + 1 :])
    if digit != ATTEMPT and digit not in STEPS:
        return None
    return attempt_id, STEPS.get(digit)
