"""Timeline entries of changes, provider requests and ledger postings."""

import json
from collections import defaultdict
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from payments.admin.framework.formats import link, money
from payments.admin.timeline.moment import Kind, Moment, Moments
from payments.admin.timeline.records import Records
from payments.models import Attempt, Event, Posting, Settlement

MARKS = {"charge.failed": "bad", "charge.succeeded": "good", "charge.captured": "good"}
OUTCOMES = {"Approved": "good", "LateApproved": "good", "Declined": "bad", "NotFound": "bad", "Rejected": "bad"}
# The longest time between the first and the last row of one statement.
ONE_STATEMENT = timedelta(milliseconds=50)
STATES = {
    Attempt.State.OPEN: "No answer is on record yet",
    Attempt.State.UNKNOWN: "The answer was lost: it is unknown whether money moved",
    Attempt.State.WAITING: "The outcome comes later",
}


def change_moments(records: Records) -> Moments:
    """Yield each change, with the object as it was then."""
    for event in records.events:
        then = json.loads(bytes(event.payload))["data"]["object"]
        amount = money(then["amount"], records.charge.currency)
        facts = [("Event", link(Event, event.pk, event)), ("Then", f"{_state(then)}, {amount}")]
        mark = "bad" if then["status"] == "failed" else MARKS.get(event.type, "")
        yield Moment(event.created_at, Kind.CHANGE, event.type, facts, mark)


def provider_moments(records: Records) -> Moments:
    """Yield each request to the provider and its answer."""
    for attempt in records.attempts:
        amount = money(attempt.amount, records.charge.currency)
        reference = ("Reference", link(Attempt, attempt.pk, attempt.reference))
        asked = f"{attempt.provider} was asked to {attempt.kind} {amount}"
        yield Moment(attempt.created_at, Kind.PROVIDER, asked, [reference])
        yield _answered(attempt, _answered_at(attempt, records))


def ledger_moments(records: Records) -> Moments:
    """Yield each ledger journal with its lines."""
    journals = defaultdict[UUID, list[Posting]](list)
    for posting in records.postings:
        journals[posting.journal].append(posting)
    for lines in journals.values():
        lines.sort(key=lambda posting: posting.line)
        kinds = ", ".join(dict.fromkeys(posting.kind.replace("_", " ") for posting in lines))
        yield Moment(lines[0].created_at, Kind.LEDGER, f"Posted: {kinds}", _facts(lines))


def _answered_at(attempt: Attempt, records: Records) -> datetime:
    """Return the time of the first row that the answer's statement wrote; the attempt is its last."""
    changed = (event.created_at for event in records.events if event.created_at > attempt.created_at)
    together = (at for at in changed if timedelta() <= attempt.updated_at - at <= ONE_STATEMENT)
    return min(together, default=attempt.updated_at)


def _answered(attempt: Attempt, at: datetime) -> Moment:
    said = [(name.capitalize(), value) for name, value in (attempt.response or {}).items() if value]
    if attempt.provider_ref:
        said.append(("Provider's reference", attempt.provider_ref))
    if attempt.state == Attempt.State.DONE:
        title, mark = f"{attempt.provider} answered: {attempt.outcome}", OUTCOMES.get(attempt.outcome, "")
    else:
        title, mark = STATES[Attempt.State(attempt.state)], "warn"
    return Moment(at, Kind.PROVIDER, title, said, mark)


def _state(then: dict[str, Any]) -> str:
    return "held" if then.get("authorized") else str(then["status"])


def _facts(lines: list[Posting]) -> list[tuple[str, object]]:
    facts: list[tuple[str, object]] = [(posting.account.replace("_", " "), _side(posting)) for posting in lines]
    batches = {posting.settlement for posting in lines if posting.settlement}
    return facts + [("Settlement", link(Settlement, batch.pk, batch)) for batch in batches]


def _side(posting: Posting) -> str:
    side = "debit" if posting.amount > 0 else "credit"
    return f"{side} {money(abs(posting.amount), posting.currency)}"
