"""The simulated bank: its books of payouts. The last digits of an account's number say what happens to one."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction

from payments import clock
from payments.db.writes import insert_if_absent
from payments.providers.base import NotFound, PayoutOutcome, Unknown
from payments.providers.payouts import Accepted, Failed, Paid, PayoutOrder, Returned
from payments.providers.simulator.messages import write_news
from payments.providers.simulator.models import SimulatedPayout

State = SimulatedPayout.State
DAY = timedelta(days=1)
REFUSED = "account_refused"


@dataclass(frozen=True, slots=True)
class Story:
    """What a payout becomes a day after it was accepted, and a day after that; `silent` where no message says so.

    `loses_request` and `loses_answer` are about its first request.
    """

    steps: tuple[str, ...] = (State.PAID,)
    silent: bool = False
    loses_request: bool = False
    loses_answer: bool = False


ORDINARY = Story()
STORIES = {
    "0002": Story((State.FAILED,)),
    "0003": Story((State.PAID, State.RETURNED)),
    "0004": Story(loses_answer=True),
    "0005": Story(loses_request=True),
    "0006": Story(silent=True),
}


def create(order: PayoutOrder) -> PayoutOutcome:
    """Book a payout once for each reference; return how it stands."""
    story = STORIES.get(order.number[-4:], ORDINARY)
    row = SimulatedPayout(
        reference=order.reference,
        amount=order.amount,
        currency=order.currency,
        last4=order.number[-4:],
        state=State.LOST if story.loses_request else State.ACCEPTED,
        due_at=None if story.loses_request else clock.now() + DAY,
    )
    if insert_if_absent(row):
        is_answered = not (story.loses_request or story.loses_answer)
        return _outcome(row) if is_answered else Unknown("the connection was lost")
    booked = SimulatedPayout.objects.filter(reference=order.reference)
    booked.filter(state=State.LOST).update(state=State.ACCEPTED, due_at=clock.now() + DAY)
    return _outcome(_after_deadlines(booked.get()))


def find(order: PayoutOrder) -> PayoutOutcome:
    """Return how the payout of a reference stands, after its deadlines that have passed."""
    booked = SimulatedPayout.objects.filter(reference=order.reference).exclude(state=State.LOST).first()
    return _outcome(_after_deadlines(booked)) if booked else NotFound()


def refuse(reference: str) -> Failed | Returned:
    """Refuse a payout that was accepted, or return one that was paid; return how it stands."""
    with transaction.atomic():
        booked = SimulatedPayout.objects.select_for_update().get(reference=reference)
        booked.state = State.RETURNED if booked.state == State.PAID else State.FAILED
        booked.due_at = None
        booked.save(update_fields=["state", "due_at"])
    return Returned(str(booked)) if booked.state == State.RETURNED else Failed(REFUSED, str(booked))


def advance_due(limit: int, among: Collection[str] | None = None) -> None:
    """Take the due step of up to `limit` payouts, of all or of the references `among`."""
    due = SimulatedPayout.objects.filter(due_at__lte=clock.now())
    due = due if among is None else due.filter(reference__in=among)
    # A silent one changes when it is asked for.
    silent = [last4 for last4, story in STORIES.items() if story.silent]
    for booked in due.exclude(last4__in=silent).order_by("due_at")[:limit]:
        _after_deadlines(booked)


def _after_deadlines(booked: SimulatedPayout) -> SimulatedPayout:
    """Take the steps that are due, each with its message, unless another process took them."""
    while booked.due_at and booked.due_at <= clock.now():
        story = STORIES.get(booked.last4, ORDINARY)
        state, *left = story.steps[booked.step :]
        values = {"state": state, "step": booked.step + 1, "due_at": booked.due_at + DAY if left else None}
        with transaction.atomic():
            was = SimulatedPayout.objects.filter(id=booked.id, step=booked.step)
            if was.update(**values) == 1 and not story.silent:
                write_news(booked.reference)
        booked.refresh_from_db()
    return booked


def _outcome(booked: SimulatedPayout) -> PayoutOutcome:
    ref = str(booked)
    match booked.state:
        case State.PAID:
            return Paid(ref)
        case State.FAILED:
            return Failed(REFUSED, ref)
        case State.RETURNED:
            return Returned(ref)
        case _:
            return Accepted(ref)
