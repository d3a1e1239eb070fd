"""Descriptions of actions on a charge: label, consequence for whose money, and result."""

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib import messages

from payments.admin.framework.formats import days_text, money, source_label
from payments.admin.framework.object_actions import Consequence, Facts
from payments.admin.moments import moment_text
from payments.domain.approvals.kinds.charge_actions import describe
from payments.domain.charging.operations import extension_days
from payments.models import Attempt, Charge, OperatorAction

Kind, State = OperatorAction.Kind, OperatorAction.State
Message = tuple[int, str]
FINAL = "This cannot be undone."


def _end_of_capture(charge: Charge, amount: int) -> str:
    rest = charge.amount - amount
    return f"The rest of the hold, {money(rest, charge.currency)}, is released. {FINAL}" if rest else FINAL


def _end_of_extension(charge: Charge, amount: int) -> str:
    days = extension_days(charge)
    return f"It ends {moment_text(charge.hold_expires_at)}, and {days_text(days)} later if that is granted."


@dataclass(frozen=True, slots=True)
class Words:
    """The label and permission of an action, and its consequence: what it `does`, and how that sentence `ends`.

    It `gives_back` where the merchant's money goes to a payer.
    """

    label: str
    permission: str
    does: str
    ends: Callable[[Charge, int], str] = lambda *_: FINAL
    gives_back: bool = False

    def consequence(self, charge: Charge, amount: int) -> Consequence:
        """Return what will happen to whose money."""
        payer = f"the payer of {charge.merchant}, {source_label(charge.source)}"
        does = self.does.format(amount=money(amount, charge.currency), payer=payer)
        return Consequence(f"{does} {self.ends(charge, amount)}", self.gives_back)


ACTIONS: dict[str, Words] = {
    Kind.CAPTURE: Words("Capture", "payments.capture_charge", "{amount} is taken from {payer}.", _end_of_capture),
    Kind.RELEASE: Words(
        "Release the hold",
        "payments.release_charge",
        "The hold of {amount} on {payer} ends, and nothing of it can be captured any more.",
    ),
    Kind.EXTEND: Words(
        "Extend the hold",
        "payments.extend_charge",
        "The provider is asked to hold {amount} on {payer} for longer.",
        _end_of_extension,
    ),
    Kind.REFUND: Words(
        "Refund",
        "payments.refund_charge",
        "{amount} goes back to {payer}. The merchant's balance falls by it, and the fee is kept.",
        gives_back=True,
    ),
    Kind.VOID: Words(
        "Void",
        "payments.void_charge",
        "{amount} goes back to {payer}, as if it had never been taken. The merchant's balance falls by it, and the fee "
        "is given back.",
        gives_back=True,
    ),
}
REFUSALS = {
    "resource_busy": "Another operation on this charge has not ended yet. Try again in a moment.",
    "too_many_refunds": "This charge has as many refunds as there can be.",
    "provider_unavailable": "The provider could not be reached. Try again in a moment.",
    "amount_too_large": "This is more than is left.",
}
# The reasons of a refund that providers know (`reason` of the API), and their words here.
REFUND_REASONS = {
    "requested_by_customer": "Requested by the payer",
    "duplicate": "Charged twice",
    "fraudulent": "Fraudulent: the payer did not make it",
}
NOT_ALLOWED = "Neither the charge nor the provider allows this now."


def refund_reason(reason: str) -> str:
    """Return the reason of a refund in words: a merchant may give its own."""
    return REFUND_REASONS.get(reason, reason)


def refund_facts(act: OperatorAction) -> Facts:
    """Yield the reason of a refund that was chosen."""
    if reason := act.after.get("reason"):
        yield "Reason", refund_reason(reason)


def result(act: OperatorAction) -> Message:
    """Return the result of an action, as a level of Django's messages and a sentence."""
    match act.state:
        case State.DONE:
            return _answer(act, act.attempt)
        case State.REFUSED:
            return messages.ERROR, f"Not done: {describe(act)}. {REFUSALS.get(act.code, NOT_ALLOWED)}"
        case State.APPROVED:
            return messages.WARNING, f"In progress: {describe(act)}. Its page shows the result."
        case State.PROPOSED:
            return (
                messages.WARNING,
                f"Requested: {describe(act)}. Another person must approve it by {moment_text(act.expires_at)}.",
            )
        case _:
            return messages.INFO, f"{act.get_state_display()}: {describe(act)}. No money was moved."


def _answer(act: OperatorAction, attempt: Attempt | None) -> Message:
    if attempt is None or attempt.is_unresolved:
        return (
            messages.WARNING,
            f"Asked, and not answered yet: {describe(act)}. It is being looked up with the bank.",
        )
    if attempt.state == Attempt.State.WAITING:
        return messages.SUCCESS, f"Asked: {describe(act)}. The provider reports the result later."
    if attempt.outcome != "Approved":
        return messages.ERROR, f"The provider did not do it: {describe(act)}. No money was moved."
    return messages.SUCCESS, f"Done: {describe(act)}."
