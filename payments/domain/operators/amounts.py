"""The largest amount that an operator's action can move."""

from payments.domain.charging.operations import extension_days
from payments.domain.charging.state_machine import ChargeState, state_of
from payments.models import Charge, OperatorAction

Kind = OperatorAction.Kind
# Only these can move part of the amount.
IN_PARTS = (Kind.CAPTURE, Kind.REFUND)


def max_amount(kind: str, charge: Charge) -> int:
    """Return the most that an action of this kind can move of `charge`; 0 where the charge does not allow it."""
    match kind, state_of(charge):
        case ((Kind.CAPTURE | Kind.RELEASE), ChargeState.HELD):
            return charge.amount
        case Kind.EXTEND, ChargeState.HELD if extension_days(charge):
            return charge.amount
        case Kind.VOID, ChargeState.CAPTURED if not charge.amount_refunded and not charge.disputed:
            return charge.amount_captured
        case Kind.REFUND, (ChargeState.CAPTURED | ChargeState.SETTLED):
            return max(0, charge.amount_captured - charge.amount_refunded - charge.amount_disputed)
        case _:
            return 0
