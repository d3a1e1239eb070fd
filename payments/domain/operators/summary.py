"""An operator's action in a few words, for the audit log and for lists."""

from payments.ids import public_id
from payments.models import StaffAct
from payments.money import format_amount


def said(act: StaffAct) -> str:
    """Return a summary such as "refund of PHP 1,250.00, ch_…"."""
    return f"{act.kind} of {format_amount(act.amount, act.currency)}, {public_id('ch', act.charge_id)}"
