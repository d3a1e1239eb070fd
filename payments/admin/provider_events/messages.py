"""What providers told by webhook: as it came, what it reports, and what became of that."""

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
from payments.domain.references import read_reference
from payments.models import Attempt, Merchant, ProviderAccount, Webhook, WebhookReport
from payments.rendering.answers import readable

MARKS = {"waiting": "warn", "applied": "good", "needs_attention": "bad"}
State = WebhookReport.State


def _with_report(state: str) -> Q:
    """The webhooks one of whose reports stands so."""
    return Q(Exists(WebhookReport.objects.filter(webhook=OuterRef("pk"), state=state)))


class ByStanding(Conditions):
    title = "standing"
    parameter_name = "standing"
    conditions = {
        "attention": ("Needs attention", _with_report(State.NEEDS_ATTENTION)),
        "waiting": ("Waiting", _with_report(State.WAITING)),
        "closed": ("Closed by an operator", _with_report(State.CLOSED)),
        "not_ours": ("Not ours", _with_report(State.NOT_OURS)),
    }


def _chip(report: WebhookReport) -> SafeString:
    return format_html(
        '<span class="chip chip-{}">{}</span>', MARKS.get(report.state, "quiet"), report.get_state_display()
    )


def _told(report: WebhookReport) -> str:
    return report.outcome or "something: the provider is asked"


class ReportsOfWebhook(LookOnlyInline):
    model = WebhookReport
    verbose_name_plural = "What it reports"
    fields = ("about", "told_of_it", "shown_amount", "chip", "shown_why", "tried", "updated")
    show_change_link = False
    updated = moment_column("updated_at")

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whoever sees the webhook sees what it says."""
        return True

    @admin.display(description="About")
    def about(self, report: WebhookReport) -> SafeString | str:
        attempt_id, _ = read_reference(report.reference) or (None, None)
        known = attempt_id is not None and Attempt.objects.filter(id=attempt_id).exists()
        return link(Attempt, attempt_id, report.reference) if known else report.reference or NOTHING

    @admin.display(description="Told")
    def told_of_it(self, report: WebhookReport) -> str:
        return _told(report)

    @admin.display(description="Amount")
    def shown_amount(self, report: WebhookReport) -> str:
        return money(report.amount, report.currency) if report.currency else str(report.amount or NOTHING)

    @admin.display(description="State")
    def chip(self, report: WebhookReport) -> SafeString:
        return _chip(report)

    @admin.display(description="Why")
    def shown_why(self, report: WebhookReport) -> SafeString | str:
        """What needed attention, and what the operator who closed it said."""
        closed = (report.note, f"{report.closed_by}, {utc(report.closed_at)} UTC") if report.closed_at else ()
        return lines(filter(None, (report.why, *closed)))

    @admin.display(description="Tries, next (UTC)")
    def tried(self, report: WebhookReport) -> SafeString | str:
        return lines((report.tries, utc(report.due_at)))


@admin.register(Webhook)
class WebhookAdmin(ClosesReports, LookOnlyAdmin):
    """Whoever may close reports that need attention closes them, with a note; nobody edits one."""

    merchant_lookup = "account__merchant"
    list_display = ("shown_id", "received", "of_account", "mode", "reports", "why")
    list_filter = (ByStanding, by_mode_of("account"), "received_at")
    list_select_related = ("account",)
    search_fields = ("reports__reference",)
    exact_lookups = ("reports__reference", "reports__key")
    search_help_text = "Any ID, whole, our reference, or the provider's mark of an event."
    uuid_lookups = {"": ("pk",), "pac": ("account_id",), "mer": ("account__merchant_id",)}
    fieldsets = (
        (None, {"fields": ("received", "of_account", "merchant", "mode")}),
        ("As it came", {"fields": ("shown_body",)}),
    )
    inlines = (ReportsOfWebhook,)
    shown_id = id_column("webhook")
    received = moment_column("received_at")
    of_account = row_link_column("account", ProviderAccount)

    class Media:
        css = {"all": ["payments/admin.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("body").prefetch_related("reports")

    def named_by(self, prefix: str, uuid: UUID) -> Iterator[dict[str, Any]]:
        if prefix == "ch":
            asked = Attempt.objects.filter(charge_id=uuid).values_list("id", flat=True)
            yield {"reports__reference__in": [attempt_id.hex for attempt_id in asked]}
        yield from super().named_by(prefix, uuid)

    @admin.display(description="Merchant")
    def merchant(self, webhook: Webhook) -> SafeString | str:
        return link(Merchant, webhook.account.merchant_id, webhook.account.merchant)

    @admin.display(description="Mode")
    def mode(self, webhook: Webhook) -> str:
        return "live" if webhook.account.livemode else "test"

    @admin.display(description="Reports")
    def reports(self, webhook: Webhook) -> SafeString | str:
        return lines(format_html("{} {}", _chip(report), _told(report)) for report in webhook.reports.all())

    @admin.display(description="Why")
    def why(self, webhook: Webhook) -> SafeString | str:
        return lines(report.why for report in webhook.reports.all() if report.why)

    @admin.display(description="Body, without secrets")
    def shown_body(self, webhook: Webhook) -> SafeString:
        return format_html("<pre>{}</pre>", readable(bytes(webhook.body)))
