from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.filters import ByMode
from payments.admin.framework.formats import column, id_column, link, pretty_json, row_link_column, short_id
from payments.admin.framework.id_search import IdSearch, events_of_request
from payments.domain.catalogue.event_types import EVENT_TYPES, SUBJECTS
from payments.ids import public_id
from payments.json_codecs.verbatim_json import loads
from payments.models import ApiKey, Event

# Events of customers are declared when their app is ready, which may be later.
OF_OBJECTS = dict.fromkeys((*SUBJECTS, "cus"), "object_id")


def link_to_object(event: Event) -> SafeString | str:
    """Return a link to the object of `event`, with its short public ID; the ID alone of a type of another version."""
    shown, kind = _object_id(event), EVENT_TYPES.get(event.type)
    return link(kind.about.model, event.object_id, shown) if kind else shown


def _object_id(event: Event) -> SafeString:
    kind = EVENT_TYPES.get(event.type)
    return short_id(public_id(kind.about.prefix, event.object_id) if kind else event.object_id.hex)


def _named_by(prefix: str, uuid: UUID) -> Iterator[dict[str, Any]]:
    if prefix == "req":
        yield {"pk__in": events_of_request(uuid).values("pk")}


@admin.register(Event)
class EventAdmin(BaseAdmin):
    for_merchants = "type object_link sequence key_link shown_payload"
    merchant_lookup = "merchant"
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
    public_id = id_column("evt")
    key_link = row_link_column("api_key", ApiKey)
    object_link = column(_("Object"), link_to_object, in_list=_object_id)
    shown_payload = column(_("Payload"), lambda event: pretty_json(loads(bytes(event.payload).decode())))

    def headline(self, row: Event) -> str:
        return f"{row.type}"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("payload")
