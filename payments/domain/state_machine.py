"""The states of a charge, and the one way to move between them (contract, section 6)."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from payments import clock
from payments.domain import events
from payments.domain.caller import Caller
from payments.models import Charge, Refund
from payments.models.together import Update, Write


class Stage(Enum):
    """Where a charge stands; the value is what its row holds then, beside when it was settled."""

    PENDING = {"status": "pending"}
    HELD = {"status": "succeeded", "authorized": True}
    CAPTURED = {"status": "succeeded", "captured": True, "settled_at": None}
    SETTLED = {"status": "succeeded", "captured": True}
    FAILED = {"status": "failed"}
    VOIDED = {"status": "voided"}
    REFUNDED = {"status": "refunded"}


@dataclass(frozen=True, slots=True)
class Flags:
    """What a charge shows of its state."""

    status: str
    authorized: bool
    captured: bool


# Every combination that a charge can show; the constraint `charge_flags_match_status` lets no other be stored.
FLAGS = (
    Flags("pending", authorized=False, captured=False),
    Flags("succeeded", authorized=True, captured=False),
    Flags("succeeded", authorized=False, captured=True),
    Flags("failed", authorized=False, captured=False),
    Flags("voided", authorized=False, captured=False),
    Flags("voided", authorized=False, captured=True),
    Flags("refunded", authorized=False, captured=True),
)


def stage_of(charge: Charge) -> Stage:
    """The stage of a charge in hand."""
    if charge.status == Charge.Status.SUCCEEDED:
        if charge.authorized:
            return Stage.HELD
        return Stage.SETTLED if charge.settled_at else Stage.CAPTURED
    return Stage[charge.status.upper()]


@dataclass(frozen=True)
class Move:
    """A step of a charge: from which stages it may be made, and the event that tells of it."""

    name: str
    origins: frozenset[Stage]
    event: str


_TAKEN = {Stage.CAPTURED, Stage.SETTLED}

ASK_PAYER = Move("ask_payer", frozenset({Stage.PENDING}), "charge.updated")
SUCCEED = Move("succeed", frozenset({Stage.PENDING}), "charge.succeeded")
FAIL = Move("fail", frozenset({Stage.PENDING}), "charge.failed")
CAPTURE = Move("capture", frozenset({Stage.HELD}), "charge.captured")
VOID = Move("void", frozenset({Stage.HELD, Stage.CAPTURED}), "charge.updated")
EXTEND = Move("extend", frozenset({Stage.HELD}), "charge.updated")
REFUND = Move("refund", frozenset(_TAKEN), "charge.updated")
RESTORE = Move("restore", frozenset(_TAKEN | {Stage.REFUNDED}), "charge.updated")
REVERSE_LATE = Move("reverse_late", frozenset({Stage.FAILED}), "charge.updated")
MOVES = (ASK_PAYER, SUCCEED, FAIL, CAPTURE, VOID, EXTEND, REFUND, RESTORE, REVERSE_LATE)


class IllegalMove(Exception):
    """The charge is not in a stage from which this move may be made."""


def advance(caller: Caller, charge: Charge, move: Move, **changes: Any) -> list[Write]:
    """The writes that make `move` on the charge in hand: a guarded update and its event.

    The charge in hand is changed too, so that it can be rendered. The update is bound to the row in hand, so it hits
    none when anybody else moved the charge meanwhile. Raises IllegalMove.
    """
    stage = stage_of(charge)
    if stage not in move.origins:
        raise IllegalMove(f"{move.name} from {stage.name.lower()}")
    match = stage.value | _in_hand(charge)
    values = changes | {"version": charge.version + 1, "updated_at": clock.now()}
    _change(charge, values)
    return [Update(Charge, match, values), *events.of_charge(caller, move.event, charge)]


def set_operation(charge: Charge, operation: str, **changes: Any) -> Update:
    """The write that marks which operation is under way; bound to the row in hand, it tells nobody."""
    match = _in_hand(charge)
    values = changes | {"operation": operation}
    _change(charge, values)
    return Update(Charge, match, values)


def refunded_status(amount_captured: int, amount_refunded: int) -> str:
    """A captured charge is `refunded` exactly while all that was captured is refunded or on its way back."""
    return Charge.Status.REFUNDED if amount_refunded == amount_captured else Charge.Status.SUCCEEDED


def settle_refund(caller: Caller, refund: Refund, status: str) -> list[Write]:
    """The writes that move a refund in hand to `status`, bound to the version in hand, with its event."""
    match = {"id": refund.id, "version": refund.version, "status": refund.status}
    values = {"status": status, "version": refund.version + 1, "updated_at": clock.now()}
    _change(refund, values)
    return [Update(Refund, match, values), *events.of_refund(caller, "refund.updated", refund)]


def _in_hand(charge: Charge) -> dict[str, Any]:
    """What the charge's row holds as long as nobody else changed it.

    Neither the mark of an operation nor a settlement tells anybody, so they leave the version as it is.
    """
    return {
        "id": charge.id,
        "version": charge.version,
        "operation": charge.operation,
        "settled_at": charge.settled_at,
    }


def _change(row: Charge | Refund, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(row, name, value)
