"""Timeline entries of API requests, changes, attempts at providers and ledger postings."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from payments.admin.framework.formats import link, money, search_link
from payments.admin.timeline.moment import About, Moment, Moments
from payments.admin.timeline.records import Records
from payments.domain.catalogue.event_types import CHARGE_CREATED, MARKS, STORIES
from payments.ids import parse_id
from payments.models import ApiKey, Attempt, Charge, Event, Posting, Settlement
from payments.models.charging.shown_states import HELD, not_paid

CREATE = "POST /v2/charges/"
FIRST_CLIENT_ERROR = 400
OUTCOMES = {"Approved": "good", "LateApproved": "good", "Declined": "bad", "NotFound": "bad", "Rejected": "bad"}
# The longest time between the first and the last row of one statement.
ONE_STATEMENT = timedelta(milliseconds=50)
STATES: dict[str, str] = {
    Attempt.State.OPEN: "No answer is on record yet",
    Attempt.State.UNKNOWN: "The answer was lost: it is unknown whether money moved",
    Attempt.State.WAITING: "The outcome comes later",
}
UUID7_BITS_BELOW_MILLISECONDS = 80


@dataclass
class Request:
    """An API request, as far as it is known."""

    id: UUID
    call: str
    key: ApiKey | None = None
    idempotency_key: str = ""
    status: int | None = None


def request_moments(records: Records) -> Moments:
    """Yield the requests that changed something, once each."""
    of_staff = {act.pk for act in records.operator_actions}
    found: dict[UUID, Request] = {}
    for request in [*_of_attempts(records), *_of_events(records)]:
        found.setdefault(request.id, request)
    yield from (moment_of(request) for request in found.values() if request.id not in of_staff)


def asked_in(event: Event) -> dict[str, Any]:
    """Return the request that caused an event: its `id` and `idempotency_key`, if any."""
    asked: dict[str, Any] = json.loads(bytes(event.payload)).get("request", {})
    return asked


def _of_attempts(records: Records) -> Iterator[Request]:
    creating = {asked_in(event).get("id") for event in records.events if event.type == CHARGE_CREATED}
    for attempt in records.attempts:
        if uuid := parse_id("req", attempt.request_id):
            is_first = attempt.request_id in creating
            verb = "verify" if attempt.kind == Attempt.Kind.AUTHORIZE else attempt.kind
            call = CREATE if is_first else f"{CREATE}{records.charge}/{verb}"
            yield Request(uuid, call, attempt.api_key, attempt.idempotency_key, attempt.answer_status)


def _of_events(records: Records) -> Iterator[Request]:
    for event in records.events:
        asked = asked_in(event)
        if uuid := parse_id("req", asked.get("id") or ""):
            call = CREATE if event.type == CHARGE_CREATED else f"{CREATE}{records.charge}"
            yield Request(uuid, call, event.api_key, asked.get("idempotency_key", ""))


def moment_of(request: Request) -> Moment:
    """Return the entry of an API request."""
    public_id = f"req_{request.id.hex}"
    facts: list[tuple[str, object]] = [(_("Request"), search_link(Event, public_id, public_id))]
    if request.key:
        facts.append((_("Key"), link(ApiKey, request.key.pk, f"{request.key} ({request.key.kind})")))
    if request.idempotency_key:
        facts.append((_("Idempotency key"), request.idempotency_key))
    if request.status:
        facts.append((_("Answered"), request.status))
    refused = request.status is not None and request.status >= FIRST_CLIENT_ERROR
    # A request's ID is a UUIDv7, which begins with its millisecond.
    started_at = datetime.fromtimestamp((request.id.int >> UUID7_BITS_BELOW_MILLISECONDS) / 1000, UTC)
    return Moment(started_at, About.REQUEST, request.call, facts, "bad" if refused else "")


def change_moments(records: Records) -> Moments:
    """Yield each change, with the object as it was then."""
    for event in records.events:
        then = json.loads(bytes(event.payload))["data"]["object"]
        amount = money(then["amount"], records.charge.currency)
        ended = not_paid(then["failure_data"]).label if then.get("failure_data") else _(then["status"])
        state = HELD.label if then.get("authorized") else ended
        facts = [(_("Event"), link(Event, event.pk, event)), (_("Then"), f"{state}, {amount}")]
        mark = "bad" if then["status"] == "failed" else MARKS.get(event.type, "")
        words = _words(event.type, then, amount, records.charge)
        yield Moment(event.created_at, About.CHANGE, event.type, facts, mark, words)


def _words(event_type: str, then: Mapping[str, Any], amount: str, charge: Charge) -> str:
    """Return a change in words; "" where another one says it."""
    story = STORIES.get(event_type, "")
    words = story if isinstance(story, str) else story.get(then["status"], "")
    return (words and _(words)).format(
        merchant=charge.merchant,
        amount=amount,
        taken=_("held") if then.get("authorized") else _("captured"),
        captured=money(then.get("amount_captured"), charge.currency),
        why=(then.get("failure_data") or {}).get("reason", ""),
        state=_(then["status"].replace("_", " ")),
    )


def ledger_moments(records: Records) -> Moments:
    """Yield each ledger journal with its lines."""
    journals = defaultdict[UUID, list[Posting]](list)
    for posting in records.postings:
        journals[posting.journal].append(posting)
    for lines in journals.values():
        lines.sort(key=lambda posting: posting.line)
        kinds = ", ".join(dict.fromkeys(posting.kind.replace("_", " ") for posting in lines))
        yield Moment(lines[0].created_at, About.LEDGER, f"Posted: {kinds}", _facts(lines))


def _facts(lines: list[Posting]) -> list[tuple[str, object]]:
    facts: list[tuple[str, object]] = []
    for posting in lines:
        side = "debit" if posting.amount > 0 else "credit"
        facts.append((posting.account.replace("_", " "), f"{side} {money(abs(posting.amount), posting.currency)}"))
    batches = {posting.settlement for posting in lines if posting.settlement}
    return facts + [("Settlement", link(Settlement, batch.pk, batch)) for batch in batches]


def provider_moments(records: Records) -> Moments:
    """Yield each request to the provider and its answer."""
    for attempt in records.attempts:
        amount = money(attempt.amount, records.charge.currency)
        reference = ("Reference", link(Attempt, attempt.pk, attempt.reference))
        asked = f"{attempt.provider} was asked to {attempt.kind} {amount}"
        yield Moment(attempt.created_at, About.PROVIDER, asked, [reference])
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
        title, mark = STATES[attempt.state], "warn"
    is_lost = attempt.state == Attempt.State.UNKNOWN
    return Moment(at, About.PROVIDER, title, facts, mark, title if is_lost else "")
