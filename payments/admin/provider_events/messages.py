"""Pages of provider messages: the body as it came, its events and their state, and the form that closes an event."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from payments.admin.framework.actions import Action, Done
from payments.admin.framework.base import BaseAdmin, ReadOnlyInline
from payments.admin.framework.filters import by, by_mode_of
from payments.admin.framework.formats import (
    NOTHING,
    chip,
    column,
    id_column,
    lines,
    link,
    mode_column,
    money,
    row_link_column,
)
from payments.admin.framework.id_search import IdSearch
from payments.admin.framework.object_actions import Facts
from payments.admin.framework.reason_form import reason_field
from payments.admin.shown_times import moment_cell, moment_text
from payments.domain.provider_events import attention
from payments.models import Attempt, Merchant, ProviderAccount, ProviderEvent, ProviderMessage
from payments.providers.references import read_reference
from payments.sensitive_data.redaction import readable

State = ProviderEvent.State
MARKS = {"waiting": "warn", "applied": "good", "needs_attention": "bad"}


class ClosingForm(forms.Form):
    """The event that needs attention, and the operator's note."""

    event = forms.ModelChoiceField(
        ProviderEvent.objects.none(), empty_label=None, widget=forms.RadioSelect(attrs={"class": "radiolist"})
    )
    note = reason_field("What it was and what was done about it, such as a ticket. No card numbers. It is kept.")

    def __init__(self, data: Any, message: ProviderMessage) -> None:
        super().__init__(data)
        chosen: Any = self.fields["event"]
        chosen.queryset = _open_in(message)
        chosen.label_from_instance = lambda event: f"{event}: {event.why}"
        chosen.initial = chosen.queryset.first()


class CloseEvent(Action):
    """Closes one event of a message that needs attention."""

    name, label, button = "close", "Close with a note", "Close"
    permission = "payments.close_providerevent"
    too_late = {attention.TooLate: "Another operator was first."}
    over = "Nothing of it needs attention any more."

    def fits(self, message: ProviderMessage) -> bool:
        return bool(_open_in(message).exists())

    def question(self, message: ProviderMessage) -> str:
        return "Close this event?"

    def form_for(self, message: ProviderMessage, data: Any) -> forms.Form:
        return ClosingForm(data, message)

    def facts(self, message: ProviderMessage) -> Facts:
        yield "Account", message.account
        yield "Received", f"{moment_text(message.received_at)}"

    def do(self, message: ProviderMessage, cleaned: dict[str, Any]) -> Done:
        attention.close(cleaned["event"], cleaned["operator"], cleaned["note"])
        return "Closed."


def _open_in(message: ProviderMessage) -> Any:
    """Return the events of a message that need attention."""
    return message.events.filter(state=State.NEEDS_ATTENTION).order_by("pk")


def _with_report(state: str) -> Q:
    """Match the messages that have an event in `state`."""
    return Q(Exists(ProviderEvent.objects.filter(message=OuterRef("pk"), state=state)))


ByReview = by(
    "review",
    attention=("Needs attention", _with_report(State.NEEDS_ATTENTION)),
    waiting=("Waiting", _with_report(State.WAITING)),
    closed=("Closed by an operator", _with_report(State.CLOSED)),
    not_ours=("Not ours", _with_report(State.NOT_OURS)),
)


def _chip(event: ProviderEvent) -> SafeString:
    return chip(event.get_state_display(), MARKS.get(event.state, "quiet"))


def _outcome_text(event: ProviderEvent) -> str:
    return event.outcome or "something: the provider is asked"


class EventsOfMessage(ReadOnlyInline):
    model = ProviderEvent
    verbose_name_plural = "What it reports"
    fields = ("about", "outcome_text", "shown_amount", "chip", "shown_why", "tried", "updated")
    show_change_link = False
    outcome_text = column("Outcome", _outcome_text)
    shown_amount = column(
        "Amount",
        lambda event: money(event.amount, event.currency) if event.currency else str(event.amount or NOTHING),
    )
    chip = column("State", _chip)
    tried = column("Tries, next", lambda event: lines((event.tries, moment_cell(event.due_at))))

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Allow everybody who sees the message to see its events."""
        return True

    @admin.display(description="About")
    def about(self, event: ProviderEvent) -> SafeString | str:
        attempt_id, _ = read_reference(event.reference) or (None, None)
        known = attempt_id is not None and Attempt.objects.filter(id=attempt_id).exists()
        return link(Attempt, attempt_id, event.reference) if known else event.reference or NOTHING

    @admin.display(description="Why")
    def shown_why(self, event: ProviderEvent) -> SafeString | str:
        """Show the reason and the note of the operator who closed it."""
        closed = (event.note, f"{event.closed_by}, {moment_text(event.closed_at)}") if event.closed_at else ()
        return lines(filter(None, (event.why, *closed)))


def _named_by(prefix: str, uuid: UUID) -> Iterator[dict[str, Any]]:
    if prefix == "ch":
        asked = Attempt.objects.filter(charge_id=uuid).values_list("id", flat=True)
        yield {"events__reference__in": [attempt_id.hex for attempt_id in asked]}


@admin.register(ProviderMessage)
class ProviderMessageAdmin(BaseAdmin):
    """Messages are read-only. Operators with the permission close events that need attention."""

    merchant_lookup = "account__merchant"
    row_actions = (CloseEvent(),)
    list_display = ("of_account", "outcomes", "reasons", "states", "received", "mode")
    file_columns = ("shown_id", "received", "of_account", "mode", "reported", "why")
    list_filter = (ByReview, by_mode_of("account"), "received_at")
    list_select_related = ("account",)
    search_fields = ("events__reference",)
    search = IdSearch(
        {"": "pk", "pac": "account_id", "mer": "account__merchant_id"},
        exact="events__reference events__key",
        named=_named_by,
    )
    search_help_text = "Any ID, whole, our reference, or the provider's mark of an event."
    fieldsets = (
        (None, {"fields": ("received", "of_account", "merchant", "mode")}),
        ("As it came", {"fields": ("shown_body",)}),
    )
    inlines = (EventsOfMessage,)
    shown_id = id_column("webhook")
    of_account = row_link_column("account", ProviderAccount)
    merchant = row_link_column("merchant", Merchant, "account")
    mode = mode_column("account")
    outcomes = column("Reports", lambda message: ", ".join(map(_outcome_text, message.events.all())))
    reasons = column("Why", lambda message: ", ".join(event.why for event in message.events.all() if event.why))
    states = column(
        "State", lambda message: format_html_join(" ", "{}", ((_chip(event),) for event in message.events.all()))
    )
    reported = column(
        "Events",
        lambda message: lines(
            format_html("{} {}", _chip(event), _outcome_text(event)) for event in message.events.all()
        ),
    )
    why = column("Why", lambda message: lines(event.why for event in message.events.all() if event.why))
    shown_body = column(
        "Body, without secrets", lambda message: format_html("<pre>{}</pre>", readable(bytes(message.body)))
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("body").prefetch_related("events")
