"""Pages of webhooks and their attempts, from which operators send them again: one, those of a charge, or a list."""

from collections.abc import Iterator
from operator import attrgetter
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.charges.actions import offered_on_charges
from payments.admin.charges.events import link_to_object
from payments.admin.framework.actions import Action, Done, OnChosen, Result
from payments.admin.framework.base import BaseAdmin, ReadOnlyInline
from payments.admin.framework.filters import ByMode, by, by_row
from payments.admin.framework.formats import NOTHING, chip, column, link, short_id
from payments.admin.framework.id_search import IdSearch, events_of_request
from payments.admin.framework.object_actions import Facts
from payments.admin.framework.reason_form import ReasonForm
from payments.admin.shown_times import moment_text
from payments.domain.catalogue.event_types import EVENT_TYPES
from payments.domain.webhooks import resend
from payments.ids import public_id
from payments.inbox.entries import about_charge
from payments.inbox.rows import GIVEN_UP
from payments.json_codecs.verbatim_json import dumps_indented, loads
from payments.models import Charge, Event, Refund, Webhook, WebhookAttempt, WebhookEndpoint
from payments.sensitive_data.redaction import readable
from payments.webhooks.signatures import shown_headers
from payments.webhooks.transport.client import HEADERS

MAY_SEND_AGAIN = "payments.change_webhook"
# How many a list may send again at once; more go by `manage.py webhooks resend`.
MOST_AT_ONCE = 1_000
SHOWN_OF_CHARGE = 50
URL_WIDTH = 50


class OfChargeForm(ReasonForm):
    """The choice among `rows`: by default those given up, or else the newest."""

    which = forms.ModelMultipleChoiceField(
        Webhook.objects.none(), label=_("Which"), widget=forms.CheckboxSelectMultiple(attrs={"class": "radiolist"})
    )

    def __init__(self, data: Any, rows: QuerySet[Webhook]) -> None:
        super().__init__(data)
        newest = list(rows[:SHOWN_OF_CHARGE])
        given_up = [row.pk for row in newest if row.due_at is None and row.state != Webhook.State.DELIVERED]
        which: Any = self.fields["which"]
        which.queryset = rows.filter(pk__in=[row.pk for row in newest])
        which.label_from_instance = _called
        self.initial["which"] = given_up or [row.pk for row in newest[:1]]


def _called(row: Webhook) -> str:
    return f"{moment_text(row.created_at)} {row.event.type}, {row.get_state_display().lower()}"


class SendAgain(Action):
    """One webhook."""

    name, label = "send_again", _("Send again")
    permission = MAY_SEND_AGAIN
    for_merchants = True
    what_happens = _(
        "The same bytes go to the same address at once, and if that fails again on the whole schedule. "
        "A receiver that has seen an event knows it by its ID."
    )

    def question(self, row: Any) -> str:
        what = gettext("{event} to {receiver}").format(event=row.event.type, receiver=row.receiver)
        return gettext("Send again: {what}").format(what=what)

    def about(self, row: Any) -> Facts:
        yield gettext("Event"), _called(row)
        yield gettext("URL"), row.url

    def rows(self, row: Any, cleaned: dict[str, Any]) -> QuerySet[Webhook]:
        return Webhook.objects.filter(pk=row.pk)

    def do(self, row: Any, cleaned: dict[str, Any]) -> Done:
        rows = self.rows(row, cleaned)
        count = rows.count()
        sent = resend.resend(rows)
        done = gettext("{count} of {all} will be sent again now.").format(count=sent, all=count)
        left = gettext("{count} of {all} left alone: a worker is sending at this moment.")
        left = left.format(count=count - sent, all=count)
        return Result(done if sent else "", warning=left if sent < count else "")


class SendChosenAgain(OnChosen, SendAgain):
    """Those that were chosen in the list."""

    most = MOST_AT_ONCE
    takes_all = True

    def possible(self, page: Any, request: HttpRequest, rows: QuerySet[Any]) -> Any:
        count = rows.order_by()[: self.most + 1].count()
        if count <= self.most:
            return rows
        text = gettext("These are more than {count}. Narrow the list.").format(count=self.most)
        page.message_user(request, text, messages.ERROR)
        return None

    def question(self, row: Any) -> str:
        return gettext("Send {count} again?").format(count=row.count())

    def about(self, row: Any) -> Facts:
        """Count the chosen webhooks by state."""
        counted = row.order_by("state").values_list("state").annotate(Count("pk"))
        yield gettext("Chosen"), ", ".join(f"{count} {Webhook.State(state).label.lower()}" for state, count in counted)

    def rows(self, row: Any, cleaned: dict[str, Any]) -> QuerySet[Webhook]:
        chosen: QuerySet[Webhook] = row
        return chosen


@offered_on_charges
class SendOfCharge(SendAgain):
    """Some of a charge, where its source names a URL."""

    name, label, button = "send_webhooks_again", _("Send webhooks again"), _("Send again")
    for_merchants = False

    def fits(self, row: Charge) -> bool:
        return bool((row.source.redirect or {}).get("notify"))

    def question(self, row: Charge) -> str:
        return gettext("Send webhooks again")

    def about(self, row: Charge) -> Facts:
        yield gettext("Charge"), link(Charge, row.pk, about_charge(row) or gettext("the payment"))

    def form_for(self, row: Charge, data: Any) -> ReasonForm:
        of_refunds = Refund.objects.filter(charge=row).values("pk")
        about = Q(event__object_id=row.pk) | Q(event__object_id__in=of_refunds)
        rows = Webhook.objects.filter(about, merchant=row.merchant_id)
        return OfChargeForm(data, rows.select_related("event").order_by("-pk"))

    def rows(self, row: Any, cleaned: dict[str, Any]) -> QuerySet[Webhook]:
        chosen: QuerySet[Webhook] = cleaned["which"]
        return chosen


def _request(made: WebhookAttempt) -> SafeString | str:
    """Show what was answered by the receiver; the signatures, which are not kept, by what made them.

    Where an earlier try was sent is not kept: the endpoint may have had another URL.
    """
    if not made.status:
        return NOTHING
    where = made.webhook.url if made.number == made.webhook.tries else ""
    event = public_id("evt", made.webhook.event_id)
    headers = HEADERS | shown_headers(event, made.started_at, settings.NOTIFY_HEADER_PREFIX)
    head = "\n".join((f"POST {where}".strip(), *(f"{name}: {value}" for name, value in headers.items())))
    body = dumps_indented(loads(bytes(made.webhook.event.payload).decode()))
    return format_html("<details><summary>{}</summary><pre>{}\n\n{}</pre></details>", gettext("Show"), head, body)


def answer_of(made: WebhookAttempt) -> SafeString:
    """Show what came back: the kept headers and the first of the body."""
    return format_html("<pre>{}</pre>", f"{made.headers}\n\n{readable(bytes(made.answer))}".strip())


class AttemptsOfWebhook(ReadOnlyInline):
    model = WebhookAttempt
    verbose_name, verbose_name_plural = _("Try"), _("Tries, newest first")
    fields = ("started", "took", "result", "request", "detail")
    ordering = ("-number",)
    took = column(_("Took"), lambda made: f"{made.milliseconds} ms")
    result = column(_("Result"), lambda made: str(made.status or made.error.replace("_", " ")))
    request = column(_("Request"), _request)
    detail = column(_("Answer, or the reason"), lambda made: answer_of(made) if made.status else made.reason)


ByDelivery = by(
    "delivery",
    failing=(_("Failing"), Q(due_at__isnull=False, failures__gt=0)),
    given_up=(_("Given up"), Q(state__in=GIVEN_UP)),
)


ByEvent = by("event", **{name: (name, Q(event__type=name)) for name in EVENT_TYPES})


def _named_by(prefix: str, uuid: UUID) -> Iterator[dict[str, Any]]:
    if prefix == "req":
        yield {"event__in": events_of_request(uuid).values("pk")}
    if prefix == "ch":
        yield {"event__object_id__in": Refund.objects.filter(charge_id=uuid).values("pk")}


@admin.register(Webhook)
class WebhookAdmin(BaseAdmin):
    """Webhooks are read-only. Operators with the change permission send them again."""

    for_merchants = (
        "type short_url tries chip due shown_event object_link event_link url whole_url receiver failures first_try "
        "leased delivery state event endpoint"
    )
    row_actions = (SendAgain(), SendChosenAgain())
    list_display = ("type", "short_url", "of_merchant", "tries", "chip", "created", "due", "mode")
    file_columns = ("shown_event", "chip", "type", "created", "tries", "due", "short_url", "object_link", "mode")
    list_filter = (ByDelivery, "state", ByEvent, by_row("endpoint", WebhookEndpoint, "endpoint"), ByMode, "created_at")
    list_select_related = ("event", "merchant")
    search_fields = ("url",)
    search_help_text = _("Any ID, whole, or a part of the URL.")
    search = IdSearch(
        {"": "pk", "evt": "event_id", **dict.fromkeys(("ch", "re", "cs"), "event__object_id"), "mer": "merchant_id"},
        named=_named_by,
    )
    fieldsets = (
        (None, {"fields": ("event_link", "type", "object_link", "of_merchant", "mode", "whole_url", "receiver")}),
        (_("State"), {"fields": ("chip", "tries", "failures", "due", "first_try", "leased", "created")}),
    )
    inlines = (AttemptsOfWebhook,)
    shown_event = column(_("Event"), lambda row: public_id("evt", row.event_id))
    event_link = column(_("Event"), lambda row: link(Event, row.event_id, short_id(public_id("evt", row.event_id))))
    type = column(_("Type"), lambda row: row.event.type)
    object_link = column(_("Object"), lambda row: link_to_object(row.event))
    chip = column(_("State"), lambda row: chip(row.get_state_display().lower(), row.state))
    whole_url = column(_("URL"), attrgetter("url"))
    short_url = column(
        _("URL"), lambda row: format_html('<span title="{}">{}</span>', row.url, Truncator(row.url).chars(URL_WIDTH))
    )

    def headline(self, row: Webhook) -> str:
        return gettext("{event} to {receiver}").format(event=row.event.type, receiver=row.receiver)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("event__payload")
