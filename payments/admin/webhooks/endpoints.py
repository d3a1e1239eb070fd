"""Merchants' webhook endpoints: made on a merchant's page; paused, changed, tested and disabled on their own."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.form_fields import MODE_CHOICES, overlap_field
from payments.admin.framework.actions import Action, Done
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.filters import ByMode, by
from payments.admin.framework.formats import chip, column, lines, link
from payments.admin.framework.id_search import IdSearch
from payments.admin.framework.object_actions import Facts
from payments.admin.framework.reason_form import OnceForm, ReasonForm
from payments.admin.shown_times import moment_text
from payments.domain.catalogue.event_types import EVENT_TYPES
from payments.domain.merchants.merchants import MODES
from payments.domain.shared.errors import PaymentError
from payments.domain.webhooks import endpoints
from payments.domain.webhooks.test_event import NotSent
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
    return forms.CharField(label=_("URL"), max_length=URL_MAX_LENGTH, help_text=_("https only in live mode."))


def _events_field() -> forms.MultipleChoiceField:
    choices = [(EVERY_TYPE, _("all, also those that come later")), *((name, name) for name in EVENT_TYPES)]
    widget = forms.CheckboxSelectMultiple({"class": "radiolist"})
    return forms.MultipleChoiceField(label=_("Events"), choices=choices, initial=[EVERY_TYPE], widget=widget)


class EventsForm(ReasonForm):
    def clean_events(self) -> list[str]:
        """Return the types; with the one that stands for all, that alone."""
        chosen: list[str] = self.cleaned_data["events"]
        return [EVERY_TYPE] if EVERY_TYPE in chosen else chosen


class NewEndpointForm(EventsForm, OnceForm):
    mode = forms.ChoiceField(label=_("Mode"), choices=MODE_CHOICES)
    url = _url_field()
    events = _events_field()


class EndpointForm(EventsForm):
    url = _url_field()
    events = _events_field()


class RollForm(ReasonForm):
    hours = overlap_field(_("How long the old secret signs too; 0 ends it now."), endpoints.OVERLAP_MAX)


class AddEndpoint(Action):
    """Of a merchant."""

    name, label = "add_endpoint", _("Add a webhook endpoint")
    permission = MAY_CHANGE
    refusals = REFUSALS
    form = NewEndpointForm
    what_happens = _("Events from now on are sent there too. The secret that signs them is shown once.")

    def do(self, merchant: Merchant, cleaned: dict[str, Any]) -> Done:
        livemode = MODES[cleaned["mode"]]
        endpoint, secret = endpoints.add_for_operator(
            merchant, livemode, cleaned["url"], cleaned["events"], cleaned["row_id"]
        )
        return {
            gettext("Endpoint"): str(endpoint),
            gettext("Secret, {mode} mode").format(mode=gettext(cleaned["mode"])): secret,
        }


class EndpointAction(Action):
    permission = MAY_CHANGE
    for_merchants = True
    refusals = REFUSALS
    over = _("This endpoint is not in that state any more.")
    # In which the action is offered.
    states: Sequence[Status] = (Status.ENABLED, Status.PAUSED, Status.DISABLED)

    def fits(self, endpoint: WebhookEndpoint) -> bool:
        return endpoint.status in self.states

    def about(self, endpoint: WebhookEndpoint) -> Facts:
        yield gettext("Merchant"), endpoint.merchant.title
        yield gettext("URL"), endpoint.url


class ChangeEndpoint(EndpointAction):
    name, label = "change_endpoint", _("Change the endpoint")
    what_happens = _("What waits is sent to the new URL too.")

    def form_for(self, endpoint: WebhookEndpoint, data: Any) -> ReasonForm:
        return EndpointForm(data, initial={"url": endpoint.url, "events": endpoint.enabled_events})

    def do(self, endpoint: WebhookEndpoint, cleaned: dict[str, Any]) -> Done:
        endpoints.change_for_operator(endpoint, url=cleaned["url"], enabled_events=cleaned["events"])
        return gettext("Changed.")


class SetStatus(EndpointAction):
    """Gives an endpoint another status."""

    def __init__(self, name: str, label: Any, status: Status, states: Sequence[Status], what_happens: Any) -> None:
        self.name, self.label = f"{name}_endpoint", label
        self.status, self.states, self.what_happens = status, states, what_happens

    def do(self, endpoint: WebhookEndpoint, cleaned: dict[str, Any]) -> Done:
        endpoints.change_for_operator(endpoint, status=self.status.value)
        return gettext("The endpoint is {state}.").format(state=self.status.label.lower())


class TestEndpoint(EndpointAction):
    name, label = "test_endpoint", _("Send a test event")
    what_happens = _("A signed charge.created about a charge that does not exist is sent once, now.")

    def do(self, endpoint: WebhookEndpoint, cleaned: dict[str, Any]) -> Done:
        result = endpoints.send_test_for_operator(endpoint)
        if not isinstance(result, Answer):
            words = gettext("The receiver did not answer ({kind}) after {count} ms, and must answer 2xx.")
            return words.format(kind=result.kind, count=result.milliseconds)
        words = gettext("The receiver answered {status} after {count} ms, and must answer 2xx.")
        if result.is_proper:
            words = gettext("The receiver answered {status} after {count} ms, properly.")
        return words.format(status=result.status, count=result.milliseconds)


class RollSecret(EndpointAction):
    name, label = "roll_secret", _("Roll the secret")
    form = RollForm
    what_happens = _("A new secret signs at once and is shown once; the old one signs too during the overlap.")

    def do(self, endpoint: WebhookEndpoint, cleaned: dict[str, Any]) -> Done:
        return {gettext("Secret"): endpoints.roll_secret_for_operator(endpoint, timedelta(hours=cleaned["hours"]))}


def endpoint_lines(merchant: Merchant) -> str:
    """Return links to a merchant's endpoints, each with its mode, status and URL."""
    found = merchant.webhook_endpoints.exclude(status=Status.DELETED).order_by("livemode", "id")
    return lines(
        link(WebhookEndpoint, row.pk, f"{'live' if row.livemode else 'test'}, {row.status}: {row.url}") for row in found
    )


def _sent(row: Webhook) -> str:
    words = gettext("{when} {event}: {state}, tries: {count}")
    state = row.get_state_display().lower()
    return words.format(when=moment_text(row.created_at), event=row.event.type, state=state, count=row.tries)


def _last_webhooks(endpoint: WebhookEndpoint) -> str:
    """Return the newest webhooks to the endpoint, among the newest of its merchant and mode."""
    newest = Webhook.objects.of(endpoint.merchant_id, endpoint.livemode).order_by("-id").values("pk")[:LOOKED_AT]
    found = Webhook.objects.filter(pk__in=newest, endpoint=endpoint).select_related("event").order_by("-id")[:SHOWN]
    return lines(link(Webhook, row.pk, _sent(row)) for row in found)


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(BaseAdmin):
    """Endpoints, with what was sent to them last."""

    for_merchants = "url standing delivery failing description gave_up last_webhooks shown_metadata status"
    row_actions = (
        ChangeEndpoint(),
        TestEndpoint(),
        SetStatus(
            *("pause", _("Pause the endpoint"), Status.PAUSED, [Status.ENABLED]),
            _("Events are kept for it and sent once it is resumed."),
        ),
        SetStatus("resume", _("Resume the endpoint"), Status.ENABLED, [Status.PAUSED], _("What waits is sent now.")),
        SetStatus(
            *("disable", _("Disable the endpoint"), Status.DISABLED, [Status.ENABLED, Status.PAUSED]),
            _("It gets no events any more, and those that wait are cancelled."),
        ),
        SetStatus(
            "enable", _("Enable the endpoint"), Status.ENABLED, [Status.DISABLED], _("It gets the events from now on.")
        ),
        SetStatus(
            *("delete", _("Delete the endpoint"), Status.DELETED, [Status.DISABLED]),
            _("It is gone, and its place is free again."),
        ),
        RollSecret(),
    )
    list_display = ("url", "merchant", "standing", "failing", "created", "mode")
    file_columns = ("public_id", "url", "standing", "merchant", "mode", "failing", "created")
    list_filter = (
        by("delivery", gave_up=(_("Disabled by kaha"), Q(gave_up_at__isnull=False))),
        "status",
        ByMode,
        "created_at",
    )
    list_select_related = ("merchant",)
    search_fields = ("url", "description")
    search = IdSearch({PREFIX: "pk", "mer": "merchant_id"})
    fieldsets = (
        (None, {"fields": ("public_id", "url", "standing", "events", "description", "of_merchant", "mode")}),
        (_("Deliveries"), {"fields": ("failing", "gave_up", "last_webhooks")}),
        (_("More"), {"fields": ("created", "updated", "shown_metadata")}),
    )
    standing = column(
        _("Status"), lambda endpoint: chip(endpoint.get_status_display().lower(), STANDING[endpoint.status])
    )
    events = column(
        _("Events"), lambda row: gettext("all") if EVERY_TYPE in row.enabled_events else ", ".join(row.enabled_events)
    )
    last_webhooks = column(_("Last webhooks"), _last_webhooks)

    def headline(self, row: WebhookEndpoint) -> str:
        return row.url
