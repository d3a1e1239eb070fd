"""Merchants' webhook endpoints: made on a merchant's page; paused, changed, tested and disabled on their own."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Q

from payments.admin.form_fields import MODE_CHOICES, overlap_field
from payments.admin.framework.base import ReadOnlyAdmin
from payments.admin.framework.filters import ByMode, by
from payments.admin.framework.formats import chip, column, id_column, json_column, lines, link, moment_column
from payments.admin.framework.id_search import IdSearch
from payments.admin.framework.object_actions import Facts
from payments.admin.framework.reason_form import OnceForm, ReasonForm
from payments.admin.framework.row_actions import Done, RowAction
from payments.admin.moments import moment_text
from payments.domain.merchants.merchants import MODES
from payments.domain.shared.errors import PaymentError
from payments.domain.shared.events import EVENT_TYPES
from payments.domain.webhooks import endpoints
from payments.domain.webhooks.test_event import NotSent, result_text
from payments.models import Merchant, Webhook, WebhookEndpoint
from payments.models.merchants.webhook_endpoint import EVERY_TYPE, PREFIX
from payments.vault import VaultUnavailable
from payments.webhooks.transport.results import Answer
from payments.webhooks.transport.urls import ForbiddenUrl

MAY_CHANGE = "payments.change_webhookendpoint"
REFUSALS = (ForbiddenUrl, PaymentError, NotSent, VaultUnavailable)
URL_MAX_LENGTH = 2083
# Its last webhooks are looked for among so many of its merchant's.
LOOKED_AT, SHOWN = 1_000, 10
Status = WebhookEndpoint.Status
STANDING = {Status.ENABLED: "good", Status.PAUSED: "warn", Status.DISABLED: "bad", Status.DELETED: "quiet"}


def _url_field() -> forms.CharField:
    return forms.CharField(label="URL", max_length=URL_MAX_LENGTH, help_text="https only in live mode.")


def _events_field() -> forms.MultipleChoiceField:
    choices = [(EVERY_TYPE, "all, also those that come later"), *((name, name) for name in EVENT_TYPES)]
    widget = forms.CheckboxSelectMultiple({"class": "radiolist"})
    return forms.MultipleChoiceField(label="Events", choices=choices, initial=[EVERY_TYPE], widget=widget)


class EventsForm(ReasonForm):
    def clean_events(self) -> list[str]:
        """Return the types; with the one that stands for all, that alone."""
        chosen: list[str] = self.cleaned_data["events"]
        return [EVERY_TYPE] if EVERY_TYPE in chosen else chosen


class NewEndpointForm(EventsForm, OnceForm):
    mode = forms.ChoiceField(choices=MODE_CHOICES)
    url = _url_field()
    events = _events_field()


class EndpointForm(EventsForm):
    url = _url_field()
    events = _events_field()


class RollForm(ReasonForm):
    hours = overlap_field("How long the old secret signs too; 0 ends it now.", endpoints.OVERLAP_MAX)


class AddEndpoint(RowAction):
    """Of a merchant."""

    name, label = "add_endpoint", "Add a webhook endpoint"
    permission = MAY_CHANGE
    refusals = REFUSALS
    form = NewEndpointForm
    what_happens = "Events from now on are sent there too. The secret that signs them is shown once."

    def field_of(self, refusal: Exception, form: forms.Form) -> str | None:
        return "url" if isinstance(refusal, ForbiddenUrl) else None

    def do(self, merchant: Merchant, cleaned: dict[str, Any]) -> Done:
        livemode = MODES[cleaned["mode"]]
        endpoint, secret = endpoints.add_for_operator(
            merchant, livemode, cleaned["url"], cleaned["events"], cleaned["row_id"]
        )
        return {"Endpoint": str(endpoint), f"Secret, {cleaned['mode']} mode": secret}


class EndpointAction(RowAction):
    permission = MAY_CHANGE
    refusals = REFUSALS
    over = "This endpoint is not in that state any more."
    # In which the action is offered.
    states: Sequence[Status] = (Status.ENABLED, Status.PAUSED, Status.DISABLED)

    def fits(self, endpoint: WebhookEndpoint) -> bool:
        return endpoint.status in self.states

    def about(self, endpoint: WebhookEndpoint) -> Facts:
        yield "Merchant", endpoint.merchant.title
        yield "URL", endpoint.url

    def field_of(self, refusal: Exception, form: forms.Form) -> str | None:
        return "url" if isinstance(refusal, ForbiddenUrl) and "url" in form.fields else None


class ChangeEndpoint(EndpointAction):
    name, label = "change_endpoint", "Change the endpoint"
    what_happens = "What waits is sent to the new URL too."

    def form_for(self, endpoint: WebhookEndpoint, data: Any) -> ReasonForm:
        return EndpointForm(data, initial={"url": endpoint.url, "events": endpoint.enabled_events})

    def do(self, endpoint: WebhookEndpoint, cleaned: dict[str, Any]) -> Done:
        endpoints.change_for_operator(endpoint, url=cleaned["url"], enabled_events=cleaned["events"])
        return "Changed."


class SetStatus(EndpointAction):
    """Gives an endpoint another status."""

    def __init__(self, name: str, status: Status, states: Sequence[Status], what_happens: str) -> None:
        self.name, self.label = f"{name}_endpoint", f"{name.title()} the endpoint"
        self.status, self.states, self.what_happens = status, states, what_happens

    def do(self, endpoint: WebhookEndpoint, cleaned: dict[str, Any]) -> Done:
        endpoints.change_for_operator(endpoint, status=self.status.value)
        return f"The endpoint is {self.status.value}."


class TestEndpoint(EndpointAction):
    name, label = "test_endpoint", "Send a test event"
    what_happens = "A signed charge.created about a charge that does not exist is sent once, now."

    def do(self, endpoint: WebhookEndpoint, cleaned: dict[str, Any]) -> Done:
        result = endpoints.send_test_for_operator(endpoint)
        proper = "properly" if isinstance(result, Answer) and result.is_proper else "and must answer 2xx"
        return f"The receiver {result_text(result)} after {result.milliseconds} ms, {proper}."


class RollSecret(EndpointAction):
    name, label = "roll_secret", "Roll the secret"
    form = RollForm
    what_happens = "A new secret signs at once and is shown once; the old one signs too during the overlap."

    def do(self, endpoint: WebhookEndpoint, cleaned: dict[str, Any]) -> Done:
        return {"Secret": endpoints.roll_secret_for_operator(endpoint, timedelta(hours=cleaned["hours"]))}


def endpoint_lines(merchant: Merchant) -> str:
    """Return links to a merchant's endpoints, each with its mode, status and URL."""
    found = merchant.webhook_endpoints.exclude(status=Status.DELETED).order_by("livemode", "id")
    return lines(
        link(WebhookEndpoint, row.pk, f"{'live' if row.livemode else 'test'}, {row.status}: {row.url}") for row in found
    )


def _last_webhooks(endpoint: WebhookEndpoint) -> str:
    """Return the newest webhooks to the endpoint, among the newest of its merchant and mode."""
    newest = Webhook.objects.of(endpoint.merchant_id, endpoint.livemode).order_by("-id").values("pk")[:LOOKED_AT]
    found = Webhook.objects.filter(pk__in=newest, endpoint=endpoint).select_related("event").order_by("-id")[:SHOWN]
    return lines(
        link(Webhook, row.pk, f"{moment_text(row.created_at)} {row.event.type}: {row.state}, tries: {row.tries}")
        for row in found
    )


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(ReadOnlyAdmin):
    """Endpoints, with what was sent to them last."""

    merchant_lookup = "merchant"
    row_actions = (
        ChangeEndpoint(),
        TestEndpoint(),
        SetStatus("pause", Status.PAUSED, [Status.ENABLED], "Events are kept for it and sent once it is resumed."),
        SetStatus("resume", Status.ENABLED, [Status.PAUSED], "What waits is sent now."),
        SetStatus(
            *("disable", Status.DISABLED, [Status.ENABLED, Status.PAUSED]),
            "It gets no events any more, and those that wait are cancelled.",
        ),
        SetStatus("enable", Status.ENABLED, [Status.DISABLED], "It gets the events from now on."),
        SetStatus("delete", Status.DELETED, [Status.DISABLED], "It is gone, and its place is free again."),
        RollSecret(),
    )
    list_display = ("url", "merchant", "standing", "failing", "created", "mode")
    file_columns = ("public_id", "url", "standing", "merchant", "mode", "failing", "created")
    list_filter = (
        by("standing", gave_up=("Disabled by kaha", Q(gave_up_at__isnull=False))),
        "status",
        ByMode,
        "created_at",
    )
    list_select_related = ("merchant",)
    search_fields = ("url", "description")
    search = IdSearch({PREFIX: "pk", "mer": "merchant_id"})
    fieldsets = (
        (None, {"fields": ("public_id", "url", "standing", "events", "description", "of_merchant", "mode")}),
        ("Deliveries", {"fields": ("failing", "gave_up", "last_webhooks")}),
        ("More", {"fields": ("created", "updated", "shown_metadata")}),
    )
    public_id = id_column(PREFIX)
    standing = column("Status", lambda endpoint: chip(endpoint.status, STANDING[endpoint.status]))
    events = column("Events", lambda row: "all" if EVERY_TYPE in row.enabled_events else ", ".join(row.enabled_events))
    failing = moment_column("failing_since")
    gave_up = moment_column("gave_up_at")
    last_webhooks = column("Last webhooks", _last_webhooks)
    shown_metadata = json_column("metadata")
