"""Pages of provider messages: the body as it came, its events and their state."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from payments.admin.framework.base import Conditions, LookOnlyAdmin, LookOnlyInline, by_mode_of
from payments.admin.framework.formats import NOTHING, id_column, lines, link, moment_column, money, row_link_column, utc
from payments.admin.provider_events.close_message import ClosesReports
from payments.models import Attempt, Merchant, ProviderAccount, ProviderEvent, ProviderMessage
from payments.providers.references import read_reference
from payments.rendering.answers import readable

MARKS = {"waiting": "warn", "applied": "good", "needs_attention": "bad"}
State = ProviderEvent.State


def _with_report(state: str) -> Q:
    """Match the messages that have an event in `state`."""
    return Q(Exists(ProviderEvent.objects.filter(message=OuterRef("pk"), state=state)))


class ByStanding(Conditions):
    title = "standing"
    parameter_name = "standing"
    conditions = {
        "attention": ("Needs attention", _with_report(State.NEEDS_ATTENTION)),
        "waiting": ("Waiting", _with_report(State.WAITING)),
        "closed": ("Closed by an operator", _with_report(State.CLOSED)),
        "not_ours": ("Not ours", _with_report(State.NOT_OURS)),
    }


def _chip(report: ProviderEvent) -> SafeString:
    return format_html(
        '<span class="chip chip-{}">{}</span>', MARKS.get(report.state, "quiet"), report.get_state_display()
    )


def _outcome_text(report: ProviderEvent) -> str:
    return report.outcome or "something: the provider is asked"


class EventsOfMessage(LookOnlyInline):
    model = ProviderEvent
    verbose_name_plural = "What it reports"
    fields = ("about", "outcome_text", "shown_amount", "chip", "shown_why", "tried", "updated")
    show_change_link = False
    updated = moment_column("updated_at")

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Allow everybody who sees the message to see its events."""
        return True

    @admin.display(description="About")
    def about(self, report: ProviderEvent) -> SafeString | str:
        attempt_id, _ = read_reference(report.reference) or (None, None)
        known = attempt_id is not None and Attempt.objects.filter(id=attempt_id).exists()
        return link(Attempt, attempt_id, report.reference) if known else report.reference or NOTHING

    @admin.display(description="Outcome")
    def outcome_text(self, report: ProviderEvent) -> str:
        return _outcome_text(report)

    @admin.display(description="Amount")
    def shown_amount(self, report: ProviderEvent) -> str:
        return money(report.amount, report.currency) if report.currency else str(report.amount or NOTHING)

    @admin.display(description="State")
    def chip(self, report: ProviderEvent) -> SafeString:
        return _chip(report)

    @admin.display(description="Why")
    def shown_why(self, report: ProviderEvent) -> SafeString | str:
        """Show the reason and the note of the operator who closed it."""
        closed = (report.note, f"{report.closed_by}, {utc(report.closed_at)} UTC") if report.closed_at else ()
        return lines(filter(None, (report.why, *closed)))

    @admin.display(description="Tries, next (UTC)")
    def tried(self, report: ProviderEvent) -> SafeString | str:
        return lines((report.tries, utc(report.due_at)))


@admin.register(ProviderMessage)
class ProviderMessageAdmin(ClosesReports, LookOnlyAdmin):
    """Messages are read-only. Operators with the permission close events that need attention."""

    merchant_lookup = "account__merchant"
    list_display = ("shown_id", "received", "of_account", "mode", "reports", "why")
    list_filter = (ByStanding, by_mode_of("account"), "received_at")
    list_select_related = ("account",)
    search_fields = ("events__reference",)
    exact_lookups = ("events__reference", "events__key")
    search_help_text = "Any ID, whole, our reference, or the provider's mark of an event."
    uuid_lookups = {"": ("pk",), "pac": ("account_id",), "mer": ("account__merchant_id",)}
    fieldsets = (
        (None, {"fields": ("received", "of_account", "merchant", "mode")}),
        ("As it came", {"fields": ("shown_body",)}),
    )
    inlines = (EventsOfMessage,)
    shown_id = id_column("webhook")
    received = moment_column("received_at")
    of_account = row_link_column("account", ProviderAccount)

    class Media:
        css = {"all": ["payments/admin.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("body").prefetch_related("events")

    def named_by(self, prefix: str, uuid: UUID) -> Iterator[dict[str, Any]]:
        if prefix == "ch":
            asked = Attempt.objects.filter(charge_id=uuid).values_list("id", flat=True)
            yield {"events__reference__in": [attempt_id.hex for attempt_id in asked]}
        yield from super().named_by(prefix, uuid)

    @admin.display(description="Merchant")
    def merchant(self, message: ProviderMessage) -> SafeString | str:
        return link(Merchant, message.account.merchant_id, message.account.merchant)

    @admin.display(description="Mode")
    def mode(self, message: ProviderMessage) -> str:
        return "live" if message.account.livemode else "test"

    @admin.display(description="Reports")
    def reports(self, message: ProviderMessage) -> SafeString | str:
        return lines(format_html("{} {}", _chip(report), _outcome_text(report)) for report in message.events.all())

    @admin.display(description="Why")
    def why(self, message: ProviderMessage) -> SafeString | str:
        return lines(report.why for report in message.events.all() if report.why)

    @admin.display(description="Body, without secrets")
    def shown_body(self, message: ProviderMessage) -> SafeString:
        return format_html("<pre>{}</pre>", readable(bytes(message.body)))
