"""Timeline entries of the attempts at providers: each request and its answer."""

from datetime import datetime, timedelta

from payments.admin.framework.formats import link, money
from payments.admin.timeline.moment import Kind, Moment, Moments
from payments.admin.timeline.records import Records
from payments.models import Attempt

OUTCOMES = {"Approved": "good", "LateApproved": "good", "Declined": "bad", "NotFound": "bad", "Rejected": "bad"}
# The longest time between the first and the last row of one statement.
ONE_STATEMENT = timedelta(milliseconds=50)
STATES: dict[str, str] = {
    Attempt.State.OPEN: "No answer is on record yet",
    Attempt.State.UNKNOWN: "The answer was lost: it is unknown whether money moved",
    Attempt.State.WAITING: "The outcome comes later",
}


def provider_moments(records: Records) -> Moments:
    """Yield each request to the provider and its answer."""
    for attempt in records.attempts:
        amount = money(attempt.amount, records.charge.currency)
        reference = ("Reference", link(Attempt, attempt.pk, attempt.reference))
        asked = f"{attempt.provider} was asked to {attempt.kind} {amount}"
        yield Moment(attempt.created_at, Kind.PROVIDER, asked, [reference])
        yield _answered(attempt, _answered_at(attempt, records))


def _answered_at(attempt: Attempt, records: Records) -> datetime:
    """Return the time of the first row that the answer's statement wrote; the attempt is its last."""
    changed = (event.created_at for event in records.events if event.created_at > attempt.created_at)
    together = (at for at in changed if timedelta() <= attempt.updated_at - at <= ONE_STATEMENT)
    return min(together, default=attempt.updated_at)


def _answered(attempt: Attempt, at: datetime) -> Moment:
    facts = [(name.capitalize(), value) for name, value in (attempt.response or {}).items() if value]
    if attempt.provider_ref:
        facts.append(("Provider's reference", attempt.provider_ref))
    if attempt.state == Attempt.State.DONE:
        title, mark = f"{attempt.provider} answered: {attempt.outcome}", OUTCOMES.get(attempt.outcome, "")
    else:
        title, mark = STATES.get(attempt.state, attempt.state), "warn"
    return Moment(at, Kind.PROVIDER, title, facts, mark)
