"""What an act moves at most."""

from payments.domain.operations import extension_days
from payments.domain.state_machine import Stage, stage_of
from payments.models import Charge, StaffAct

Kind = StaffAct.Kind
# Of these any part may be moved.
IN_PARTS = (Kind.CAPTURE, Kind.REFUND)


def at_stake(kind: str, charge: Charge) -> int:
    """How much of the charge in hand an act of this kind moves at most; 0 where there is nothing for it to do."""
    match kind, stage_of(charge):
        case ((Kind.CAPTURE | Kind.RELEASE), Stage.HELD):
            return charge.amount
        case Kind.EXTEND, Stage.HELD if extension_days(charge):
            return charge.amount
        case Kind.VOID, Stage.CAPTURED if not charge.amount_refunded:
            return charge.amount_captured
        case Kind.REFUND, (Stage.CAPTURED | Stage.SETTLED):
            return charge.amount_captured - charge.amount_refunded
        case _:
            return 0
