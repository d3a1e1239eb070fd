"""Pages of webhooks and their attempts, from which operators send them again: one, those of a charge, or a list."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.text import Truncator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.charges.actions import offered_on_charges
from payments.admin.charges.events import link_to_object
from payments.admin.framework.base import ReadOnlyAdmin, ReadOnlyInline
from payments.admin.framework.filters import ByMode, by
from payments.admin.framework.formats import chip, column, link, moment_column, short_id
from payments.admin.framework.id_search import IdSearch, events_of_request
from payments.admin.framework.object_actions import ActionButton, Facts, form_page, operator_of
from payments.admin.framework.reason_form import ReasonForm
from payments.admin.moments import moment_text
from payments.context import because
from payments.domain.webhooks import resend
from payments.ids import public_id
from payments.inbox.rows import GIVEN_UP
from payments.models import Charge, Event, Refund, Webhook, WebhookAttempt
from payments.sensitive_data.redaction import readable

MAY_SEND_AGAIN = "payments.change_webhook"
# How many a list may send again at once; more go by `manage.py webhooks resend`.
MOST_AT_ONCE = 1_000
SHOWN_OF_CHARGE = 50
WHAT_HAPPENS = _(
    "The same bytes go to the same address at once, and if that fails again on the whole schedule. "
    "A receiver that has seen an event knows it by its ID."
)
BUTTONS: Any = [("send_again", _("Send again"))]
URL_WIDTH = 50


class SelectionForm(ReasonForm):
    """Sends along what was chosen in a list, for the list to find it again."""

    action = forms.CharField(widget=forms.HiddenInput)
    select_across = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, data: Any, chosen: Any) -> None:
        super().__init__(data)
        self.fields[ACTION_CHECKBOX_NAME] = forms.Field(widget=forms.MultipleHiddenInput)
        self.initial = {
            "action": chosen.get("action"),
            "select_across": chosen.get("select_across"),
            ACTION_CHECKBOX_NAME: chosen.getlist(ACTION_CHECKBOX_NAME),
        }


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


@offered_on_charges
def resend_acts(request: HttpRequest, charge: Charge) -> Iterator[ActionButton]:
    """Yield the button that sends a charge's webhooks again, where its source names a URL."""
    if operator_of(request).has_perm(MAY_SEND_AGAIN) and (charge.source.redirect or {}).get("notify"):
        yield ActionButton(
            gettext("Send webhooks again"), reverse("admin:payments_charge_send_webhooks_again", args=[charge.pk])
        )


def _facts_of(rows: QuerySet[Any]) -> Facts:
    """Count the chosen webhooks by state."""
    yield gettext("What happens"), WHAT_HAPPENS
    counted = rows.order_by("state").values_list("state").annotate(Count("pk"))
    yield gettext("Chosen"), ", ".join(f"{count} {Webhook.State(state).label.lower()}" for state, count in counted)


def _called(row: Webhook) -> str:
    return f"{moment_text(row.created_at)} {row.event.type}, {row.get_state_display().lower()}"


class AttemptsOfWebhook(ReadOnlyInline):
    model = WebhookAttempt
    verbose_name_plural = _("Tries, newest first")
    fields = ("number", "started", "took", "result", "detail")
    ordering = ("-number",)
    started = moment_column("started_at")
    took = column(_("Took"), lambda made: f"{made.milliseconds} ms")
    result = column(_("Result"), lambda made: str(made.status or made.error))
    detail = column(
        _("First of the answer, or the reason"),
        lambda made: format_html("<pre>{}</pre>", readable(bytes(made.answer)) if made.status else made.reason),
    )


ByStanding = by(
    "standing",
    failing=(_("Failing"), Q(due_at__isnull=False, failures__gt=0)),
    given_up=(_("Given up"), Q(state__in=GIVEN_UP)),
)


def _named_by(prefix: str, uuid: UUID) -> Iterator[dict[str, Any]]:
    if prefix == "req":
        yield {"event__in": events_of_request(uuid).values("pk")}
    if prefix == "ch":
        yield {"event__object_id__in": Refund.objects.filter(charge_id=uuid).values("pk")}


@admin.register(Webhook)
class WebhookAdmin(ReadOnlyAdmin):
    """Webhooks are read-only. Operators with the change permission send them again."""

    for_merchants = (
        "type short_url tries chip due shown_event object_link event_link url receiver failures first_try leased "
        "standing state"
    )
    merchant_lookup = "merchant"
    views = {
        "payments_webhook_send_again": ("<uuid:pk>/send-again/", "send_one_again"),
        "payments_charge_send_webhooks_again": ("of-charge/<uuid:pk>/", "send_again_of_charge"),
    }
    list_display = ("type", "short_url", "of_merchant", "tries", "chip", "created", "due", "mode")
    file_columns = ("shown_event", "chip", "type", "created", "tries", "due", "short_url", "object_link", "mode")
    list_filter = (ByStanding, "state", ByMode, "created_at")
    list_select_related = ("event", "merchant")
    search_fields = ("url",)
    search_help_text = _("Any ID, whole, or a part of the URL.")
    search = IdSearch(
        {"": "pk", "evt": "event_id", **dict.fromkeys(("ch", "re", "cs"), "event__object_id"), "mer": "merchant_id"},
        named=_named_by,
    )
    actions = ["send_again"]
    fieldsets = (
        (None, {"fields": ("event_link", "type", "object_link", "of_merchant", "mode", "url", "receiver")}),
        (_("State"), {"fields": ("chip", "tries", "failures", "due", "first_try", "leased", "created")}),
    )
    inlines = (AttemptsOfWebhook,)
    due = moment_column("due_at")
    first_try = moment_column("first_try_at")
    leased = moment_column("leased_until")
    shown_event = column(_("Event"), lambda row: public_id("evt", row.event_id))
    event_link = column(_("Event"), lambda row: link(Event, row.event_id, short_id(public_id("evt", row.event_id))))
    type = column(_("Type"), lambda row: row.event.type)
    object_link = column(_("Object"), lambda row: link_to_object(row.event))
    chip = column(_("State"), lambda row: chip(row.get_state_display().lower(), row.state))
    short_url = column(
        _("URL"), lambda row: format_html('<span title="{}">{}</span>', row.url, Truncator(row.url).chars(URL_WIDTH))
    )

    def headline(self, row: Webhook) -> str:
        return gettext("{event} to {receiver}").format(event=row.event.type, receiver=row.receiver)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("event__payload")

    def buttons_of(self, request: HttpRequest, row: Webhook) -> list[ActionButton]:
        address = reverse("admin:payments_webhook_send_again", args=[row.pk])
        return [ActionButton(gettext("Send again"), address)] if self.has_send_again_permission(request) else []

    def has_send_again_permission(self, request: HttpRequest) -> bool:
        return operator_of(request).has_perm(MAY_SEND_AGAIN)

    @admin.action(description=_("Send again"), permissions=["send_again"])
    def send_again(self, request: HttpRequest, rows: QuerySet[Any]) -> HttpResponse | None:
        """Says what was chosen, asks why, and sends it again."""
        count = rows.order_by()[: MOST_AT_ONCE + 1].count()
        if count > MOST_AT_ONCE:
            text = gettext("These are more than {count}. Narrow the list.").format(count=MOST_AT_ONCE)
            self.message_user(request, text, messages.ERROR)
            return None
        form = SelectionForm(request.POST if "decision" in request.POST else None, request.POST)
        if not form.is_valid():
            title = gettext("Send {count} again?").format(count=count)
            return form_page(request, self, title, _facts_of(rows), form, BUTTONS)
        self._send(request, rows, form)
        return None

    def send_one_again(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Ask for a reason, and send one webhook again."""
        self._require_permission(request)
        row = get_object_or_404(self.get_queryset(request).select_related("event"), pk=pk)
        form = ReasonForm(request.POST or None)
        if not form.is_valid():
            what, event, to = gettext("What happens"), gettext("Event"), gettext("URL")
            facts = [(what, WHAT_HAPPENS), (event, _called(row)), (to, row.url)]
            title = gettext("Send again: {what}").format(what=self.headline(row))
            return form_page(request, self, title, facts, form, BUTTONS, None, row)
        self._send(request, self.get_queryset(request).filter(pk=pk), form)
        return redirect("admin:payments_webhook_change", pk)

    def send_again_of_charge(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Ask for a choice of a charge's webhooks and a reason, and send them again."""
        self._require_permission(request)
        charges: Any = self.admin_site.get_model_admin(Charge).get_queryset(request)
        charge = get_object_or_404(charges, pk=pk)
        form = OfChargeForm(request.POST or None, self._webhooks_of(request, charge))
        if not form.is_valid():
            facts = [(gettext("What happens"), WHAT_HAPPENS), (gettext("Charge"), link(Charge, charge.pk, charge))]
            title = gettext("Send webhooks of {charge} again?").format(charge=charge)
            return form_page(request, self, title, facts, form, BUTTONS, None, charge)
        self._send(request, form.cleaned_data["which"], form)
        return redirect("admin:payments_charge_change", pk)

    def _webhooks_of(self, request: HttpRequest, charge: Charge) -> QuerySet[Any]:
        of_refunds = Refund.objects.filter(charge=charge).values("pk")
        about = Q(event__object_id=charge.pk) | Q(event__object_id__in=of_refunds)
        return self.get_queryset(request).filter(about).select_related("event").order_by("-pk")

    def _require_permission(self, request: HttpRequest) -> None:
        if not self.has_send_again_permission(request):
            raise PermissionDenied

    def _send(self, request: HttpRequest, rows: QuerySet[Any], form: ReasonForm) -> None:
        count = rows.count()
        with because(form.cleaned_data["reason"]):
            sent = resend.resend(rows)
        if sent:
            done = gettext("{count} of {all} will be sent again now.").format(count=sent, all=count)
            self.message_user(request, done, messages.SUCCESS)
        if sent < count:
            words = gettext("{count} of {all} left alone: a worker is sending at this moment.")
            left = words.format(count=count - sent, all=count)
            self.message_user(request, left, messages.WARNING)
