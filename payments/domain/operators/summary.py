"""What an operator asks for in a few words, for the audit log and for lists."""

from payments.ids import public_id
from payments.models import Correction, OperatorAction
from payments.money import format_amount


def describe(action: OperatorAction) -> str:
    """Return a summary such as "refund of PHP 1,250.00, ch_…"."""
    return f"{action.kind} of {format_amount(action.amount, action.currency)}, {public_id('ch', action.charge_id)}"


def proposed_outcome(correction: Correction) -> str:
    """Return the outcome that a correction proposes, and its proof."""
    proof = correction.provider_ref or correction.decline_code
    outcome = correction.outcome.replace("_", " ")
    return f"{outcome} ({proof})" if proof else outcome
