"""How a dispute stands, by Xendit's description of it."""

import re
from datetime import UTC, datetime
from decimal import Decimal
from http import HTTPStatus
from itertools import groupby
from operator import itemgetter

from payments.money import minor_units
from payments.providers.base import NotFound, NotSent, Unknown
from payments.providers.disputes import Disputed, FoundDispute, Reason, Stage
from payments.providers.xendit import calls
from payments.providers.xendit.client import XenditAnswer, XenditClient
from payments.providers.xendit.fields import Body, objects, text

# Of the other channels it is not said when the money is taken: when the dispute is raised, or when it is lost.
CHANNEL = "CARDS"
ACTION_REQUIRED, UNDER_REVIEW, MORE_WANTED = "ACTION_REQUIRED", "UNDER_REVIEW", "NEED_MORE_INFORMATION"
# The ends by status and reason: the stage of each, and the one where evidence was under review before.
DECIDED: dict[tuple[str, str], tuple[Stage, Stage]] = {
    ("WON", ""): (Stage.REVERSED, Stage.REVERSED),
    ("WON", "CHALLENGED"): (Stage.REVERSED, Stage.REVERSED),
    ("WON", "WITHDRAWN"): (Stage.REVERSED, Stage.REVERSED),
    ("WON", "ARBITRATION"): (Stage.WON_FINALLY, Stage.WON_FINALLY),
    ("LOST", ""): (Stage.LOST_FINALLY, Stage.LOST_FINALLY),
    ("LOST", "CHALLENGED"): (Stage.LOST_FINALLY, Stage.LOST_FINALLY),
    ("LOST", "ARBITRATION"): (Stage.LOST_FINALLY, Stage.LOST_FINALLY),
    ("LOST", "ACCEPTED"): (Stage.ACCEPTED, Stage.ACCEPTED_LATER),
    ("LOST", "EXCEEDED_DEADLINE"): (Stage.EXPIRED, Stage.LOST_FINALLY),
}
# How often kaha can follow a bank that asks again.
REVIEWS_MAX = 2
AMOUNT = re.compile(r"[0-9]{1,14}(?:\.[0-9]{1,6})?")
# Words of a category, whose names Xendit does not list; the first that is found counts.
REASONS = {
    "fraud": Reason.FRAUDULENT,
    "not_received": Reason.NOT_RECEIVED,
    "not_as_described": Reason.NOT_AS_DESCRIBED,
    "defective": Reason.NOT_AS_DESCRIBED,
    "counterfeit": Reason.NOT_AS_DESCRIBED,
    "misrepresent": Reason.NOT_AS_DESCRIBED,
    "credit_not_processed": Reason.CREDIT_NOT_PROCESSED,
    "recurring": Reason.SUBSCRIPTION_CANCELED,
    "subscription": Reason.SUBSCRIPTION_CANCELED,
    "duplicate": Reason.DUPLICATE,
    "processing_error": Reason.PROCESSING_ERROR,
    "billing_error": Reason.PROCESSING_ERROR,
    "unrecognized": Reason.UNRECOGNIZED,
}


class Unclear(Exception):
    """Xendit says something of a dispute that its documents do not explain; the message is for operators."""


def find(client: XenditClient, dispute_id: str) -> FoundDispute | Unknown | NotSent | NotFound:
    """Return how a dispute stands."""
    answer = calls.get_dispute(client, dispute_id)
    if not isinstance(answer, XenditAnswer):
        return answer
    if answer.error_code:
        is_unknown = answer.status == HTTPStatus.NOT_FOUND
        return NotFound() if is_unknown else Unknown(f"the provider refused the lookup: {answer.error_code}")
    if text(answer.body, "id") != dispute_id:
        return Unknown("the provider names another dispute")
    reference = _reference(client, answer.body)
    return _found(reference, answer.body) if isinstance(reference, str) else reference


def claimed(message: Body) -> Stage | None:
    """Return the stage that a message about a dispute speaks of; None for none that is known."""
    stages, unclear = _stages(message, is_whole=True)
    return None if unclear else stages[-1]


def _reference(client: XenditClient, body: Body) -> str | Unknown | NotSent:
    """Return our reference of the disputed payment, by the payment itself where the dispute does not name it."""
    reference, payment_id = text(body, "reference_id"), text(body, "payment_id")
    if not reference and payment_id:
        answer = calls.get_payment(client, payment_id)
        if not isinstance(answer, XenditAnswer):
            return answer
        reference = text(answer.body, "reference_id")
    return reference or Unknown("the provider does not name the payment of the dispute")


def _found(reference: str, body: Body) -> FoundDispute | Unknown:
    currency, amounts = text(body, "currency"), body.get("amount")
    try:
        initial = _amount(amounts, "initial", currency)
        terminal = _amount(amounts, "terminal", currency)
    except ValueError:
        return Unknown("the provider names an amount that cannot be read")
    if initial is None:
        return Unknown("the provider names no amount")
    stages, unclear = _stages(body, is_whole=terminal in (None, initial))
    ref, due_at = text(body, "id"), _moment(text(body, "due_date"))
    shown = (Disputed(ref, stage, initial, currency, _reason(body), evidence_due_at=due_at) for stage in stages)
    return FoundDispute(reference, tuple(shown), unclear)


def _amount(amounts: object, name: str, currency: str) -> int | None:
    """Return an amount in the smallest unit; None for null. Raise ValueError for what is none."""
    value = amounts.get(name) if isinstance(amounts, dict) else None
    if value is None:
        return None
    if not isinstance(value, str) or not AMOUNT.fullmatch(value):
        raise ValueError(name)
    return minor_units(Decimal(value), currency)


def _reason(body: Body) -> Reason:
    """Return the reason that the name of the category says; the general one where it says none."""
    category = body.get("category")
    name = text(category, "name").lower() if isinstance(category, dict) else ""
    return next((reason for word, reason in REASONS.items() if word in name), Reason.GENERAL)


def _moment(written: str) -> datetime | None:
    """Return the moment in a text, in UTC where it names no zone; None for what is none."""
    try:
        read = datetime.fromisoformat(written)
    except ValueError:
        return None
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def _stages(body: Body, *, is_whole: bool) -> tuple[list[Stage], str]:
    """Return the stages that are certain, and what is unclear besides."""
    if text(body, "channel_code") != CHANNEL:
        return [], f"Xendit does not say when it takes the money of a dispute by {text(body, 'channel_code')!r}."
    # Money that was disputed by card is taken when the dispute is raised.
    certain = [Stage.CHARGEBACK]
    reviews = _reviews(body)
    if reviews:
        certain.append(Stage.EVIDENCE)
    try:
        last = _last(text(body, "status"), text(body, "status_reason"), reviews)
    except Unclear as why:
        return certain, str(why)
    if Stage.ASKED_AGAIN <= last <= Stage.EVIDENCE_AGAIN:
        certain.append(Stage.ASKED_AGAIN)
    if text(body, "status") in ("WON", "LOST") and not is_whole:
        return certain, "Xendit has decided about a part of the disputed amount, which kaha does not book: correct it."
    return [*certain, *([last] if last not in certain else [])], ""


def _reviews(body: Body) -> int:
    """Return how often evidence was, or is, under review. Events of one status in a row are one."""
    status, reason = text(body, "status"), text(body, "status_reason")
    read = [(_moment(text(event, "timestamp")), text(event, "status")) for event in objects(body, "timeline")]
    # The timeline may be in any order.
    dated = sorted(((at, then) for at, then in read if at), key=itemgetter(0))
    passed = [each for each, _ in groupby(then for _, then in dated)]
    seen = sum(1 for each in passed if each == UNDER_REVIEW)
    # It may come without its timeline.
    return max(seen, int(status == UNDER_REVIEW or reason in ("CHALLENGED", MORE_WANTED)))


def _last(status: str, reason: str, reviews: int) -> Stage:
    """Return the stage that a dispute is in. Raise Unclear."""
    if status == UNDER_REVIEW:
        return Stage.EVIDENCE if reviews < REVIEWS_MAX else Stage.EVIDENCE_AGAIN
    if (status, reason) in DECIDED:
        first, later = DECIDED[status, reason]
        return later if reviews else first
    if status == ACTION_REQUIRED and reason in ("", MORE_WANTED):
        if reviews >= REVIEWS_MAX:
            raise Unclear("Xendit asks for more evidence once again: respond in its dashboard.")
        return Stage.ASKED_AGAIN if reviews else Stage.CHARGEBACK
    raise Unclear(f"Xendit says that a dispute is {status}, reason {reason or 'none'}, and does not explain it.")
