"""The states of a charge, and the one way to move between them (contract, section 6).

Nothing here changes a row: a transition is returned as an update.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from payments.domain.catalogue import event_types
from payments.domain.charging.changes import RowUpdate
from payments.models import Charge, Refund


class ChargeState(Enum):
    """The state of a charge; the value is what its row holds then, beside when it was settled."""

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


def state_of(charge: Charge) -> ChargeState:
    """Return the state of a charge."""
    if charge.status == Charge.Status.SUCCEEDED:
        if charge.authorized:
            return ChargeState.HELD
        return ChargeState.SETTLED if charge.settled_at else ChargeState.CAPTURED
    return ChargeState[charge.status.upper()]


@dataclass(frozen=True)
class Transition:
    """A step of a charge: the states from which it may be made, and the event that shows it."""

    name: str
    origins: frozenset[ChargeState]
    event: str


_CAPTURED = {ChargeState.CAPTURED, ChargeState.SETTLED}

ASK_PAYER = Transition("ask_payer", frozenset({ChargeState.PENDING}), event_types.CHARGE_UPDATED)
SUCCEED = Transition("succeed", frozenset({ChargeState.PENDING}), event_types.CHARGE_SUCCEEDED)
FAIL = Transition("fail", frozenset({ChargeState.PENDING}), event_types.CHARGE_FAILED)
CAPTURE = Transition("capture", frozenset({ChargeState.HELD}), event_types.CHARGE_CAPTURED)
VOID = Transition("void", frozenset({ChargeState.HELD, ChargeState.CAPTURED}), event_types.CHARGE_UPDATED)
EXTEND = Transition("extend", frozenset({ChargeState.HELD}), event_types.CHARGE_UPDATED)
REFUND = Transition("refund", frozenset(_CAPTURED), event_types.CHARGE_UPDATED)
RESTORE = Transition("restore", frozenset(_CAPTURED | {ChargeState.REFUNDED}), event_types.CHARGE_UPDATED)
DISPUTE = Transition("dispute", frozenset(_CAPTURED | {ChargeState.REFUNDED}), event_types.CHARGE_DISPUTED)
CHANGE_DISPUTE = Transition("change_dispute", DISPUTE.origins, event_types.CHARGE_UPDATED)
REVERSE_LATE = Transition("reverse_late", frozenset({ChargeState.FAILED}), event_types.CHARGE_UPDATED)
TRANSITIONS = (ASK_PAYER, SUCCEED, FAIL, CAPTURE, VOID, EXTEND, REFUND, RESTORE, DISPUTE, CHANGE_DISPUTE, REVERSE_LATE)


class IllegalTransition(Exception):
    """The charge is not in a state from which this transition may be made."""


def transition(charge: Charge, by: Transition, now: datetime, **changes: Any) -> RowUpdate:
    """Return the update that moves the charge. Raise IllegalTransition."""
    state = state_of(charge)
    if state not in by.origins:
        raise IllegalTransition(f"{by.name} from {state.name.lower()}")
    values = changes | {"version": charge.version + 1, "updated_at": now}
    return RowUpdate(charge, state.value | _unchanged(charge), values, by.event)


def set_operation(charge: Charge, operation: str, **changes: Any) -> RowUpdate:
    """Return the update that marks which operation is under way, which no event shows."""
    return RowUpdate(charge, _unchanged(charge), changes | {"operation": operation})


def refunded_status(amount_captured: int, amount_refunded: int) -> str:
    """Return the status of a captured charge: `refunded` exactly while all of it is refunded or on its way back."""
    return Charge.Status.REFUNDED if amount_refunded == amount_captured else Charge.Status.SUCCEEDED


def set_refund_status(refund: Refund, status: str, now: datetime) -> RowUpdate:
    """Return the update that moves a refund to `status`."""
    match = {
        "id": refund.id,
        "merchant_id": refund.merchant_id,
        "version": refund.version,
        "status": refund.status,
    }
    values = {"status": status, "version": refund.version + 1, "updated_at": now}
    return RowUpdate(refund, match, values, event_types.REFUND_UPDATED)


def _unchanged(charge: Charge) -> dict[str, Any]:
    """Return what the charge's row holds as long as nobody else changed it.

    Neither the mark of an operation nor a settlement writes an event, so they leave the version as it is.
    """
    marks = {"operation": charge.operation, "settled_at": charge.settled_at}
    return {"id": charge.id, "merchant_id": charge.merchant_id, "version": charge.version, **marks}
