from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.filters import ByMode
from payments.admin.framework.formats import NOTHING, column, link, pretty_json, row_link_column, short_id
from payments.admin.framework.id_search import IdSearch, events_of_request
from payments.domain.catalogue.event_types import EVENT_TYPES, SUBJECTS
from payments.ids import public_id
from payments.inbox.entries import about_charge
from payments.json_codecs.verbatim_json import loads
from payments.models import ApiKey, Charge, Dispute, Event, Refund

# Events of customers are declared when their app is ready, which may be later.
OF_PAYERS: dict[Any, str] = {
    Charge: "source__card",
    Refund: "charge__source__card",
    Dispute: "charge__source__card",
}
OF_OBJECTS = dict.fromkeys((*SUBJECTS, "cus"), "object_id")


def link_to_object(event: Event) -> SafeString | str:
    """Return a link to the object of `event`, with its short public ID; the ID alone of a type of another version."""
    shown, kind = _object_id(event), EVENT_TYPES.get(event.type)
    return link(kind.about.model, event.object_id, shown) if kind else shown


def _object_id(event: Event) -> SafeString:
    kind = EVENT_TYPES.get(event.type)
    return short_id(public_id(kind.about.prefix, event.object_id) if kind else event.object_id.hex)


def _model_of(event: Event) -> Any:
    kind = EVENT_TYPES.get(event.type)
    return kind and kind.about.model


def _in_words(event: Event) -> str:
    """Return who paid what an event is about, and what for; its kind where it has no payer."""
    model = _model_of(event)
    return getattr(event, "payer", "") or str(capfirst(_(str(model._meta.verbose_name))) if model else NOTHING)


def _named_by(prefix: str, uuid: UUID) -> Iterator[dict[str, Any]]:
    if prefix == "req":
        yield {"pk__in": events_of_request(uuid).values("pk")}


@admin.register(Event)
class EventAdmin(BaseAdmin):
    for_merchants = "type object_link sequence key_link shown_payload"
    list_display = ("type", "object_link", "sequence", "merchant", "created", "mode")
    file_columns = ("public_id", "created", "type", "object_link", "sequence", "merchant", "mode")
    list_filter = (ByMode, "created_at")
    list_select_related = ("merchant",)
    search_fields = ("type",)
    search_help_text = _("Any ID, whole, or a type of event.")
    search = IdSearch({**OF_OBJECTS, "evt": "pk", "mer": "merchant_id"}, named=_named_by)
    fieldsets = (
        (None, {"fields": ("public_id", "type", "object_link", "sequence", "of_merchant", "mode", "created")}),
        (_("Request"), {"fields": ("key_link",)}),
        (_("As sent"), {"fields": ("shown_payload",)}),
    )
    key_link = row_link_column("api_key", ApiKey)
    object_link = column(_("Object"), link_to_object, in_list=_in_words)
    shown_payload = column(_("Payload"), lambda event: pretty_json(loads(bytes(event.payload).decode())))

    def complete(self, rows: Any) -> None:
        """Load payer and order of what `rows` are about."""
        super().complete(rows)
        for model, payer in OF_PAYERS.items():
            of_model = [row for row in rows if _model_of(row) is model]
            found = model.objects.select_related(payer).in_bulk([row.object_id for row in of_model])
            for row in of_model:
                row.payer = about_charge(found[row.object_id]) if row.object_id in found else ""

    def headline(self, row: Event) -> str:
        return f"{row.type}"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("payload")
