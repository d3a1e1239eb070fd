from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from payments.api.filters import event_filters, events_page, newer_events
from payments.api.responses.rendering import json_response
from payments.api.validation.query_fields import EventListQuery
from payments.api.views.feeds import Feed, show_feed
from payments.api.views.viewset import ApiViewSet
from payments.db.compiled_query import CompiledQuery
from payments.domain.shared.errors import not_found
from payments.ids import parse_id
from payments.json_codecs.verbatim_json import loads
from payments.models import Event

EVENTS = Feed(*(Event, "evt", CompiledQuery(events_page), event_filters), newer=CompiledQuery(newer_events))


class EventViewSet(ApiViewSet):
    """The merchant's events, for a receiver that missed some."""

    query_serializers = {"list": EventListQuery}
    rights = {"list": "events:read", "retrieve": "events:read"}

    def list(self, request: Request) -> HttpResponse:
        return show_feed(request, self.caller(request), EVENTS, self.query, _render)

    def retrieve(self, request: Request, pk: str) -> HttpResponse:
        caller, uuid = self.caller(request), parse_id("evt", pk)
        event = Event.objects.of(caller.merchant_id, caller.livemode).filter(id=uuid).first() if uuid else None
        if event is None:
            raise not_found("event", text=pk)
        return json_response(bytes(event.payload))


def _render(event: Event) -> Any:
    return loads(bytes(event.payload).decode())
