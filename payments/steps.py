"""The points of each movement of money at which a process may die, named, so that a test can have it die there."""

from collections.abc import Callable
from enum import StrEnum


class Step(StrEnum):
    """Of a charge, capture, void, refund or authentication, in their order; then of a delivery and of a settlement."""

    WAITING = "waiting"  # for another operation on the charge
    OPENING = "opening"  # nothing is written
    OPENED = "opened"  # the attempt and all that goes with it are on record, by one statement
    ASKING = "asking"  # the provider knows nothing yet
    ANSWERED = "answered"  # the money has moved, and nothing of it is on record
    RECORDING = "recording"  # what the answer means is decided
    RECORDED = "recorded"  # it is on record, and nobody has been answered
    NUDGING = "nudging"  # a change is committed, and no worker was woken to tell of it
    CLAIMED = "claimed"  # webhooks are in hand
    SENT = "sent"  # receivers have answered, and nothing of it is on record
    PUT_DOWN = "put_down"  # the tries are on record
    LOCKED = "locked"  # the charges of a settlement
    POSTED = "posted"  # everything of a settlement is written, before the commit
    SETTLED = "settled"  # a settlement is on record


Listener = Callable[[Step], None]
_listener: Listener | None = None


def reached(step: Step) -> None:
    """Tells the listener of this process, if it has one, that the calling thread is at `step`."""
    if _listener is not None:
        _listener(step)


def listen(listener: Listener | None) -> None:
    """Has `listener` called at each step of this process from now on, or nobody."""
    global _listener
    _listener = listener
