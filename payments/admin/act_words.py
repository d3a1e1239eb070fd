"""Acts on a charge in words: what each is called, what will happen to whose money, and how it went."""

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib import messages

from payments.admin.formats import money, utc
from payments.admin.sources import source_label
from payments.domain.attempts import UNRESOLVED
from payments.domain.operations import extension_days
from payments.domain.staff_acts.saying import said
from payments.models import Attempt, Charge, StaffAct

Kind, State = StaffAct.Kind, StaffAct.State
Told = tuple[int, str]
FINAL = "This cannot be undone."


@dataclass(frozen=True, slots=True)
class Words:
    """How an act is offered, who may do it, and what it will do with so much of a charge."""

    label: str
    permission: str
    consequence: Callable[[Charge, int], str]


def _capture(charge: Charge, amount: int) -> str:
    rest = charge.amount - amount
    released = f" The rest of the hold, {money(rest, charge.currency)}, is released." if rest else ""
    return f"{money(amount, charge.currency)} is taken from {_payer(charge)}.{released} {FINAL}"


def _release(charge: Charge, amount: int) -> str:
    hold = f"The hold of {money(amount, charge.currency)} on {_payer(charge)} ends"
    return f"{hold}, and nothing of it can be captured any more. {FINAL}"


def _extend(charge: Charge, amount: int) -> str:
    longer = f"for {extension_days(charge)} days more than until {utc(charge.hold_expires_at)} UTC"
    return f"The provider is asked to hold {money(amount, charge.currency)} on {_payer(charge)} {longer}."


def _void(charge: Charge, amount: int) -> str:
    back = f"{money(amount, charge.currency)} goes back to {_payer(charge)}, as if it had never been taken."
    return f"{back} The merchant's balance falls by it, and the fee is given back. {FINAL}"


def _refund(charge: Charge, amount: int) -> str:
    back = f"{money(amount, charge.currency)} goes back to {_payer(charge)}."
    return f"{back} The merchant's balance falls by it, and the fee is kept. {FINAL}"


def _payer(charge: Charge) -> str:
    return f"the payer of {charge.merchant}, {source_label(charge.source)}"


OFFERED: dict[str, Words] = {
    Kind.CAPTURE: Words("Capture", "payments.capture_charge", _capture),
    Kind.RELEASE: Words("Release the hold", "payments.release_charge", _release),
    Kind.EXTEND: Words("Extend the hold", "payments.extend_charge", _extend),
    Kind.REFUND: Words("Refund", "payments.refund_charge", _refund),
    Kind.VOID: Words("Void", "payments.void_charge", _void),
}
REFUSALS = {
    "resource_busy": "Another operation on this charge has not ended yet. Try again in a moment.",
    "provider_unavailable": "The provider could not be reached. Try again in a moment.",
    "amount_too_large": "This is more than is left.",
}
NOT_ALLOWED = "Neither the charge nor the provider allows this now."


def result(act: StaffAct) -> Told:
    """How an act stands, as a level of Django's messages and a sentence."""
    match act.state:
        case State.DONE:
            return _answer(act, act.attempt)
        case State.REFUSED:
            return messages.ERROR, f"Not done: {said(act)}. {REFUSALS.get(act.code, NOT_ALLOWED)}"
        case State.APPROVED:
            return messages.WARNING, f"Being done: {said(act)}. Its page tells how it ended."
        case State.PROPOSED:
            return messages.WARNING, f"Asked for: {said(act)}. A second person must agree by {utc(act.expires_at)} UTC."
        case _:
            return messages.INFO, f"{act.get_state_display()}: {said(act)}. No money was moved."


def _answer(act: StaffAct, attempt: Attempt | None) -> Told:
    if attempt is None or attempt.state in UNRESOLVED:
        return messages.WARNING, f"Asked, and not answered yet: {said(act)}. The desk of unknown outcomes has it."
    if attempt.state == Attempt.State.WAITING:
        return messages.SUCCESS, f"Asked: {said(act)}. The provider tells later how it ended."
    if attempt.outcome != "Approved":
        return messages.ERROR, f"The provider did not do it: {said(act)}. No money was moved."
    return messages.SUCCESS, f"Done: {said(act)}."
