"""Timeline entries of payers, providers' webhooks, our webhooks, staff and settlement reports."""

from collections.abc import Iterator, Mapping
from uuid import UUID

from django.contrib.auth.models import User
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from payments.admin.audit.audit_log import object_link
from payments.admin.framework.formats import link, money
from payments.admin.operators.words import ACTIONS, HEADLINES
from payments.admin.shown_times import moment_text
from payments.admin.timeline.moment import About, Moment, Moments
from payments.admin.timeline.records import EventRecords, Records
from payments.domain.messages.kinds import label_of
from payments.models import (
    AuditEntry,
    OperatorAction,
    PageVisit,
    PayerMessage,
    ProviderEvent,
    ProviderMessage,
    ReconciliationItem,
    ReconciliationRun,
    Webhook,
    WebhookAttempt,
)
from payments.sensitive_data.redaction import readable, redact

DELIVERED = range(200, 300)
MARKS: dict[str, str] = {ProviderEvent.State.NEEDS_ATTENTION: "bad", ProviderEvent.State.WAITING: "warn"}

MESSAGE_MARKS: dict[str, str] = {
    PayerMessage.State.WAITING: "warn",
    PayerMessage.State.SENT: "good",
    PayerMessage.State.KEPT: "quiet",
    PayerMessage.State.DROPPED: "quiet",
    PayerMessage.State.GIVEN_UP: "bad",
}


def payer_moments(records: Records) -> Moments:
    """Yield the payer's visits to the pages of the charge."""
    for visit in records.visits:
        facts = [(pgettext("address", "From"), visit.address), (_("With"), visit.browser)]
        if visit.times > 1:
            text = _("{count} times in all, the last {time}")
            facts.append((_("Again"), text.format(count=visit.times, time=moment_text(visit.last_at))))
        title = _("Payer {what}").format(what=_(str(PageVisit.Page(visit.page).label)).lower())
        yield Moment(visit.first_at, About.PAYER, title, facts)


def message_moments(records: Records) -> Moments:
    """Yield the messages to the payer, each at its end, or when it was written while it waits."""
    for message in records.messages:
        text, state = _("{message} by {channel}: {state}"), message.get_state_display().lower()
        what = text.format(message=_(label_of(message)), channel=message.get_channel_display(), state=state)
        facts = [(_("To"), message.recipient), (_("Why"), message.why), (_("Subject"), message.subject)]
        shown = [(_("Message"), link(PayerMessage, message.pk, _("What it says")))]
        shown += [(label, text) for label, text in facts if text]
        yield Moment(message.ended_at or message.created_at, About.MESSAGE, what, shown, MESSAGE_MARKS[message.state])


def provider_event_moments(records: Records) -> Moments:
    """Yield the provider's webhooks about the charge, and their results."""
    for event in records.provider_events:
        outcome = event.outcome or "a change, and was asked about it"
        came_to = ": ".join(filter(None, [event.get_state_display(), redact(event.why)]))
        facts = [("Webhook", link(ProviderMessage, event.message_id, redact(str(event)))), ("Result", came_to)]
        if event.closed_at:
            facts.append(("Closed", f"{event.note} ({event.closed_by}, {moment_text(event.closed_at)})"))
        title = f"{event.account.provider} reported: {outcome}"
        yield Moment(event.message.received_at, About.PROVIDER_EVENT, title, facts, MARKS.get(event.state, "quiet"))


def webhook_moments(records: EventRecords) -> Moments:
    """Yield each attempt to send a webhook to the merchant, and those not sent yet."""
    types = {event.pk: event.type for event in records.events}
    for made in records.tries:
        yield _tried(made, records.webhooks[made.webhook_id], types)
    for row in records.webhooks.values():
        if not row.tries:
            yield Moment(
                row.created_at,
                About.WEBHOOK,
                _("{event} waits to be sent").format(event=types[row.event_id]),
                _sent_to(row),
                "warn",
            )


# The states of a request that nobody else decided on.
DONE_ALONE = (OperatorAction.State.APPROVED, OperatorAction.State.DONE, OperatorAction.State.REFUSED)
# What comes of a decision at once: the changes of the charge say it.
FOLLOWS = "follows"
# What people did about a request to move the charge's money, in the words of its page.
_STORY = {
    "proposed": "{who} asked to {does}; another person decides",
    "alone": "{who} decided to {does}",
    "approved": "{who} approved it: {does}",
    "rejected": "{who} rejected the request to {does}",
    "withdrawn": "{who} took back the request to {does}",
    "expired": "Nobody decided in time on the request to {does}",
    "done": "Done, as {who} decided: {does}",
}


def staff_moments(records: EventRecords, with_address: bool) -> Moments:
    """Yield what staff did and why, with their addresses if `with_address`."""
    acts = {str(act.pk): act for act in getattr(records, "operator_actions", ())}
    people = User.objects.filter(username__in={entry.actor for entry in records.staff_entries})
    names = dict(people.values_list("username", "first_name"))
    for entry in records.staff_entries:
        who = names.get(entry.actor) or entry.actor or "No operator signed in"
        act = acts.get(entry.object_id)
        step = _step(act, entry) if act else ""
        words = _STORY[step].format(who=who, does=_does(act)) if act and step in _STORY else ""
        title = f"{who}: {entry.action.replace('_', ' ')}"
        facts = list(_why(entry, with_address))
        yield Moment(entry.created_at, About.STAFF, title, facts, words=words, is_detail=step == FOLLOWS)


def _step(act: OperatorAction, entry: AuditEntry) -> str:
    """Return what a person did, as the story names it."""
    if act.decided_by_id or act.state not in DONE_ALONE:
        return entry.action
    return "alone" if entry.action == "proposed" else FOLLOWS


def _does(act: OperatorAction) -> str:
    """Return what an action does, such as "refund ₱50.00"."""
    text = str(HEADLINES[ACTIONS[act.kind]].does_it.format(amount=money(act.amount, act.currency)))
    return text[0].lower() + text[1:]


def report_moments(records: Records) -> Moments:
    """Yield the provider's report lines, and the differences from the ledger."""
    for line in records.report_lines:
        title = f"{line.provider} reported: {line.get_kind_display().lower()}"
        report = ("Report", link(ReconciliationRun, line.run_id, line.run))
        booked_at = line.booked_at or line.run.created_at
        yield Moment(booked_at, About.REPORT, title, [("Amount", money(line.amount, line.currency)), report])
    for item in records.differences:
        facts = [("State", item.state), ("Difference", link(ReconciliationItem, item.pk, item))]
        mark = "bad" if item.state == ReconciliationItem.State.OPEN else "quiet"
        yield Moment(item.created_at, About.REPORT, f"Report and ledger differ: {item}", facts, mark)


def _tried(made: WebhookAttempt, row: Webhook, types: Mapping[UUID, str]) -> Moment:
    came_to = _("answered {status}") if made.status else _("failed: {error}")
    came_to = came_to.format(status=made.status, error=made.error)
    facts = [*_sent_to(row), (_("Attempt"), f"{made.number}, {made.milliseconds} ms")]
    delivered = made.status in DELIVERED
    answer = readable(bytes(made.answer)) if made.status else made.reason
    if answer and not delivered:
        facts.append((_("Answer"), answer))
    if made.number == row.tries and row.due_at:
        facts.append((_("Next attempt"), f"{moment_text(row.due_at)}"))
    title = _("{event} sent: {result}").format(event=types[row.event_id], result=came_to)
    return Moment(made.started_at, About.WEBHOOK, title, facts, "good" if delivered else "bad")


def _sent_to(row: Webhook) -> list[tuple[str, object]]:
    return [(_("To"), link(Webhook, row.pk, row.receiver))]


def _why(entry: AuditEntry, with_address: bool) -> Iterator[tuple[str, object]]:
    yield "What", object_link(entry)
    if entry.fields or entry.detail:
        yield "Detail", ", ".join(filter(None, [*entry.fields, entry.detail]))
    if entry.reason:
        yield "Why", entry.reason
    if with_address:
        yield "From", entry.origin
