"""Descriptions of actions on a charge: label, consequence for whose money, and result."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.framework.formats import days_text, link, money, of_payer, source_label, two_lines
from payments.admin.framework.object_actions import Facts, Move
from payments.admin.shown_times import moment_brief, moment_text
from payments.domain.approvals.verbs import VERBS
from payments.domain.catalogue import error_table as errors
from payments.domain.charging.operations import extension_days
from payments.domain.charging.verbs import CAPTURE, EXTEND, ON_CHARGES, REFUND, RELEASE, VOID
from payments.domain.shared.verbs import MoneyVerb
from payments.inbox.entries import about_charge
from payments.ledger.fees import Rate, fee_of
from payments.models import ApprovalRequest, Attempt, Charge, OperatorAction

State = OperatorAction.State
Message = tuple[int, Any]
FINAL = _("This cannot be undone.")
UNNAMED_ORDER = _("the payment")


def _end_of_capture(charge: Charge, amount: int) -> str:
    rest = charge.amount - amount
    text = gettext("The rest of the hold, {amount}, is released.").format(amount=money(rest, charge.currency))
    return f"{text} {FINAL}" if rest else str(FINAL)


def _end_of_extension(charge: Charge, amount: int) -> str:
    days = extension_days(charge)
    text = gettext("It ends {time}, and {days} later if that is granted.")
    return text.format(time=moment_text(charge.hold_expires_at), days=days_text(days))


def _captured(charge: Charge, amount: int) -> Iterable[Move]:
    def shown(sum_: int) -> str:
        return money(sum_, charge.currency)

    fee = fee_of(amount, Rate(charge.fee_basis_points, charge.fee_fixed))
    yield Move(_("Held"), shown(charge.amount))
    yield Move(_("Captured now"), shown(amount), source_label(charge.source), is_now=True)
    if rest := charge.amount - amount:
        yield Move(_("Released"), shown(rest))
    if fee:
        yield Move(_("Fee"), money(-fee, charge.currency))
    yield Move(of_merchant(_("To the balance of {merchant}"), charge), shown(amount - fee), is_now=True)


def _refunded(charge: Charge, amount: int) -> Iterable[Move]:
    left = charge.amount_captured - charge.amount_refunded - charge.amount_disputed - amount
    yield Move(_("Paid"), money(charge.amount_captured, charge.currency))
    if charge.amount_refunded:
        yield Move(_("Refunded so far"), money(-charge.amount_refunded, charge.currency))
    yield Move(_("Back to the payer"), money(-amount, charge.currency), source_label(charge.source), is_now=True)
    yield Move(_("Left of the payment"), money(max(0, left), charge.currency), _("Can still be refunded"))
    kept = gettext("The fee of {amount} is kept").format(amount=money(charge.fee, charge.currency))
    yield Move(
        of_merchant(_("Balance of {merchant}"), charge), money(-amount, charge.currency), kept if charge.fee else ""
    )


def _voided(charge: Charge, amount: int) -> Iterable[Move]:
    back = gettext("The fee of {amount} is given back").format(amount=money(charge.fee, charge.currency))
    yield Move(_("Paid"), money(charge.amount_captured, charge.currency))
    yield Move(_("Back to the payer"), money(-amount, charge.currency), source_label(charge.source), is_now=True)
    balance = money(charge.fee - amount, charge.currency)
    yield Move(of_merchant(_("Balance of {merchant}"), charge), balance, back if charge.fee else "")


def of_merchant(text: Any, charge: Charge) -> str:
    """Return `text` with the name of the merchant of a charge."""
    return str(text).format(merchant=charge.merchant.title)


def payment_facts(charge: Charge) -> Facts:
    """Yield what a payment is for, how it was paid, and how far it is."""
    yield _("Order"), link(Charge, charge.pk, charge.description or UNNAMED_ORDER)
    yield _("Paid with"), source_label(charge.source)
    amount = charge.amount_captured if charge.captured else charge.amount
    how_much = two_lines(money(amount, charge.currency), moment_brief(charge.created_at))
    yield _("Paid") if charge.captured else _("Held"), how_much
    if charge.amount_refunded:
        yield _("Refunded so far"), money(charge.amount_refunded, charge.currency)
    if charge.authorized and not charge.captured and charge.hold_expires_at:
        yield _("Hold ends"), moment_brief(charge.hold_expires_at)


@dataclass(frozen=True, slots=True)
class Headline:
    """The headline of an action and of the request for it, each with its amount, and the sums that move.

    `done` says what is true after it, of the `amount` and the `payer`, and what is still to come.
    """

    does_it: Any
    done: Any
    moves: Callable[[Charge, int], Iterable[Move]]
    asks_for_it: Any = ""


ACTIONS = {verb.name: verb for verb in ON_CHARGES}
# How the sentence ends that says what comes of it.
ENDS: dict[MoneyVerb, Callable[[Charge, int], object]] = {CAPTURE: _end_of_capture, EXTEND: _end_of_extension}
HEADLINES = {
    CAPTURE: Headline(_("Capture {amount}"), _("{amount} is captured from {payer}."), _captured),
    RELEASE: Headline(
        _("Release the hold of {amount}"),
        _("The hold of {amount} on {payer} is released. Their bank may need some days to show it."),
        lambda charge, amount: [Move(_("Released"), money(amount, charge.currency), is_now=True)],
    ),
    EXTEND: Headline(
        _("Extend the hold of {amount}"), _("The hold of {amount} on {payer} is extended."), lambda *_: ()
    ),
    REFUND: Headline(
        _("Refund {amount}"),
        _("{amount} is sent back to {payer}. Their bank may need some days to show it."),
        _refunded,
        _("Ask to refund {amount}"),
    ),
    VOID: Headline(
        _("Void {amount}"),
        _("{amount} is sent back to {payer}, and the fee is given back to the merchant."),
        _voided,
        _("Ask to void {amount}"),
    ),
}


def asked_of(attempt: Attempt, currency: str) -> str:
    """Return what a provider was asked for, and the amount, such as `capture of ₱50.00`."""
    return f"{attempt.get_kind_display()} of {money(attempt.amount, currency)}"


def headline_of(verb: MoneyVerb, charge: Charge, amount: int, asks: bool = False) -> str:
    """Return the question whether to do it, or whether to ask for it, with amount and payer."""
    does = HEADLINES[verb].asks_for_it if asks else HEADLINES[verb].does_it
    whom = of_payer(charge, gettext("to {payer}") if verb.outward else gettext("from {payer}"))
    return f"{str(does).format(amount=money(amount, charge.currency))} {whom}".strip() + "?"


def consequence_of(verb: MoneyVerb, charge: Charge, amount: int) -> str:
    """Return what will happen to whose money."""
    payer = gettext("the payer of {merchant}, {source}")
    payer = payer.format(merchant=charge.merchant, source=source_label(charge.source))
    does = str(verb.does).format(amount=money(amount, charge.currency), payer=payer)
    return f"{does} {ENDS[verb](charge, amount) if verb in ENDS else FINAL}"


REFUSALS = {
    errors.RESOURCE_BUSY: _("Another operation on this charge has not ended yet. Try again in a moment."),
    errors.TOO_MANY_REFUNDS: _("This charge has as many refunds as there can be."),
    errors.PROVIDER_UNAVAILABLE: _("The provider could not be reached. Try again in a moment."),
    errors.KEY_REVOKED: _("Its key may not do this any more."),
    errors.AMOUNT_TOO_LARGE: _("What is left has changed, and the amount with it."),
    errors.TOO_SMALL: _("The balance has nothing to pay out."),
    errors.RESOURCE_MISSING: _("What it is about is not there any more."),
}
# The reasons of a refund that providers know (`reason` of the API), and their words here.
REFUND_REASONS = {
    "requested_by_customer": _("Requested by the payer"),
    "duplicate": _("Charged twice"),
    "fraudulent": _("Fraudulent: the payer did not make it"),
}
NOT_ALLOWED = _("Neither the charge nor the provider allows this now.")


def refund_reason(reason: str) -> str:
    """Return the reason of a refund in words: a merchant may give its own."""
    return str(REFUND_REASONS.get(reason, reason))


def refund_facts(act: OperatorAction) -> Facts:
    """Yield the reason of a refund that was chosen."""
    if reason := act.after.get("reason"):
        yield _("Reason"), refund_reason(reason)


def in_few_words(act: ApprovalRequest) -> str:
    """Return what moves how much, and whose payment or order it is about, in the reader's language."""
    return gettext("{action} of {amount}, {charge}").format(
        action=named(act.verb), amount=money(act.amount, act.currency), charge=about(act)
    )


def what_moves(act: ApprovalRequest) -> str:
    """Return what moves how much, on the page of the payment that it is about."""
    return gettext("{action} of {amount}").format(action=named(act.verb), amount=money(act.amount, act.currency))


def named(verb: str) -> str:
    """Return the name of what does something to money."""
    return str(VERBS[verb].noun or gettext(verb))


def about(act: ApprovalRequest) -> object:
    """Return whose payment or which order something is about, by name."""
    if act.charge:
        return about_charge(act) or act.charge
    body = act.after["body"]
    items = [item["name"] for item in body.get("line_items", ())]
    return body.get("internal_name") or body.get("description") or ", ".join(items) or act.merchant


def result(act: ApprovalRequest) -> Message:
    """Return the result of an action, as a level of Django's messages and a sentence."""
    what = in_few_words(act)
    match act.state:
        case State.DONE:
            return _answer(act, act.attempt)
        case State.REFUSED:
            text = gettext("Not done: {what}.").format(what=what)
            return messages.ERROR, f"{text} {REFUSALS.get(act.code, NOT_ALLOWED)}"
        case State.APPROVED:
            return messages.WARNING, gettext("In progress: {what}. Its page shows the result.").format(what=what)
        case State.PROPOSED:
            text = gettext("Requested: {what}. Another person must approve it by {time}.")
            return messages.WARNING, text.format(what=what, time=moment_text(act.expires_at))
        case State.REJECTED | State.WITHDRAWN | State.EXPIRED | State.OVERTAKEN:
            text = gettext("{state}: {what}. No money was moved.")
            return messages.INFO, text.format(state=act.get_state_display(), what=what)
        case unknown:
            raise ValueError(unknown)


def _answer(act: ApprovalRequest, attempt: Attempt | None) -> Message:
    if attempt is None or attempt.is_unresolved:
        level, text = (
            messages.WARNING,
            gettext("Asked, and not answered yet: {what}. It is being looked up with the bank."),
        )
    elif attempt.state == Attempt.State.WAITING:
        level, text = messages.SUCCESS, gettext("Asked: {what}. The provider reports the result later.")
    elif attempt.outcome != "Approved":
        level, text = messages.ERROR, gettext("The provider did not do it: {what}. No money was moved.")
    elif act.charge and act.verb in ACTIONS:
        return messages.SUCCESS, _done(act, act.charge)
    else:
        level, text = messages.SUCCESS, gettext("Done: {what}.")
    return level, text.format(what=in_few_words(act))


def _done(act: ApprovalRequest, charge: Charge) -> str:
    payer = charge.source.payer_name or gettext("the payer")
    return str(HEADLINES[ACTIONS[act.verb]].done).format(amount=money(act.amount, act.currency), payer=payer)
