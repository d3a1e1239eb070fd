"""Pages of webhooks and their attempts, from which operators send them again."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.text import Truncator

from payments.admin.charges.events import link_to_object
from payments.admin.framework.base import ByMode, LookOnlyAdmin, LookOnlyInline, by
from payments.admin.framework.formats import chip, column, link, moment_column
from payments.admin.framework.id_search import events_of_request
from payments.admin.webhooks.resend import Resending
from payments.ids import public_id
from payments.models import Event, Refund, Webhook, WebhookAttempt
from payments.overview.needs_attention import GIVEN_UP
from payments.rendering.answers import readable

URL_WIDTH = 50


class AttemptsOfWebhook(LookOnlyInline):
    model = WebhookAttempt
    verbose_name_plural = "Tries, newest first"
    fields = ("number", "started", "took", "result", "detail")
    ordering = ("-number",)
    started = moment_column("started_at")
    took = column("Took", lambda made: f"{made.milliseconds} ms")
    result = column("Result", lambda made: str(made.status or made.error))
    detail = column(
        "First of the answer, or the reason",
        lambda made: format_html("<pre>{}</pre>", readable(bytes(made.answer)) if made.status else made.reason),
    )


ByStanding = by(
    "standing",
    failing=("Failing", Q(due_at__isnull=False, failures__gt=0)),
    given_up=("Given up", Q(state__in=GIVEN_UP)),
)


@admin.register(Webhook)
class WebhookAdmin(Resending, LookOnlyAdmin):
    """Webhooks are read-only. Operators with the change permission send them again."""

    merchant_lookup = "merchant"
    list_display = ("shown_event", "chip", "type", "created", "tries", "due", "short_url", "object_link", "mode")
    list_filter = (ByStanding, "state", ByMode, "created_at")
    list_select_related = ("event",)
    search_fields = ("url",)
    search_help_text = "Any ID, whole, or a part of the URL."
    uuid_lookups = {
        "": ("pk",),
        "evt": ("event_id",),
        "ch": ("event__object_id",),
        "re": ("event__object_id",),
        "mer": ("merchant_id",),
    }
    actions = ["send_again"]
    fieldsets = (
        (None, {"fields": ("event_link", "type", "object_link", "of_merchant", "mode", "url", "receiver")}),
        ("State", {"fields": ("chip", "tries", "failures", "due", "first_try", "leased", "created")}),
    )
    inlines = (AttemptsOfWebhook,)
    due = moment_column("due_at")
    first_try = moment_column("first_try_at")
    leased = moment_column("leased_until")
    shown_event = column("Event", lambda row: public_id("evt", row.event_id))
    event_link = column("Event", lambda row: link(Event, row.event_id, public_id("evt", row.event_id)))
    type = column("Type", lambda row: row.event.type)
    object_link = column("Object", lambda row: link_to_object(row.event))
    chip = column("State", lambda row: chip(row.state))
    short_url = column(
        "URL", lambda row: format_html('<span title="{}">{}</span>', row.url, Truncator(row.url).chars(URL_WIDTH))
    )

    class Media:
        css = {"all": ["payments/admin.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("event__payload")

    def named_by(self, prefix: str, uuid: UUID) -> Iterator[dict[str, Any]]:
        if prefix == "req":
            yield {"event__in": events_of_request(uuid).values("pk")}
        if prefix == "ch":
            yield {"event__object_id__in": Refund.objects.filter(charge_id=uuid).values("pk")}
        yield from super().named_by(prefix, uuid)
