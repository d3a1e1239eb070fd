"""An operator's action in a few words, for the audit log and for lists."""

from payments.ids import public_id
from payments.models import OperatorAction
from payments.money import format_amount


def describe(action: OperatorAction) -> str:
    """Return a summary such as "refund of PHP 1,250.00, ch_…"."""
    return f"{action.kind} of {format_amount(action.amount, action.currency)}, {public_id('ch', action.charge_id)}"
