"""The subjects of provider events: payment, check of a card, payout, dispute, and what an event means to each."""

from collections.abc import Callable
from typing import Any, NamedTuple

from payments.db.writes import StaleRow
from payments.domain.bulkheads import ProviderBusy
from payments.domain.checkout import card_checks
from payments.domain.payouts import send
from payments.domain.payouts.outcomes import Answer, CannotBeTrue
from payments.domain.provider_events import disputes, payments
from payments.domain.provider_events.inbox import read_outcome
from payments.domain.provider_events.reasons import Ended, Later, require_same
from payments.domain.provider_events.references import attempt_of, require_explained
from payments.models import Payout, ProviderEvent
from payments.providers.payouts import Paid
from payments.providers.references import is_check, read_reference

State = ProviderEvent.State


def apply(event: ProviderEvent) -> None:
    """Record what an event says. Raise Ended where it is never recorded, and Later."""
    require_explained(event)
    for subject in SUBJECTS.values():
        if (named := subject.named_by(event)) is not None:
            subject.record(event, named)
            return


def _payout_of(event: ProviderEvent) -> Payout | None:
    payout_id, _ = read_reference(event.reference) or (None, None)
    return Payout.objects.filter(id=payout_id).first() if payout_id else None


def _look_up(event: ProviderEvent, payout: Payout) -> None:
    """Look the payout up, of which an event only says that there is news, and record how it stands."""
    require_same(event, payout.provider_account_id, payout.amount, payout.currency)
    had_ended = payout.status in (Payout.Status.FAILED, Payout.Status.CANCELLED)
    try:
        answer = send.look_up(payout)
    except (ProviderBusy, StaleRow):
        raise Later("It is being sent or looked up at this moment.") from None
    except CannotBeTrue as reason:
        raise Ended(State.NEEDS_ATTENTION, str(reason)) from None
    if not isinstance(answer, Answer):
        raise Later(f"The provider does not say: {getattr(answer, 'why', type(answer).__name__)}")
    if had_ended and isinstance(answer, Paid):
        why = f"It was paid though it was {payout.status} here: the merchant's balance was charged with it again."
        raise Ended(State.NEEDS_ATTENTION, why)


def _check_of(event: ProviderEvent) -> str | None:
    return event.reference if is_check(event.reference) else None


def _record_check(event: ProviderEvent, reference: str) -> None:
    """Record the outcome of the check of a card."""
    checkout = card_checks.checkout_of(reference)
    if checkout is None:
        raise Ended(State.NOT_OURS, "A check of a card asked for it, which moves no money.")
    require_same(event, checkout.check_account_id, checkout.amount, checkout.currency)
    try:
        card_checks.record_report(checkout, read_outcome(event.outcome, event.outcome_json))
    except StaleRow:
        raise Later("It is being looked up at this moment.") from None


class Subject(NamedTuple):
    """Something that events are about: `named_by` finds what an event names, None where that is another subject."""

    named_by: Callable[[ProviderEvent], Any]
    record: Callable[[ProviderEvent, Any], None]


# The first that an event names is its subject, and the last one refuses what nobody asked for.
SUBJECTS = {
    "payout": Subject(_payout_of, _look_up),
    "dispute": Subject(disputes.named_by, disputes.record),
    "check": Subject(_check_of, _record_check),
    "payment": Subject(attempt_of, payments.record),
}
