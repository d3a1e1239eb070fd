from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from payments.api.filters import event_filters, events_page, newer_events
from payments.api.responses.rendering import json_response
from payments.api.validation.query_fields import EventListQuery
from payments.api.views.feeds import Feed, show_feed
from payments.api.views.viewset import ApiViewSet
from payments.db.compiled_query import CompiledQuery
from payments.domain.shared.finder import Finder
from payments.json_codecs.verbatim_json import loads
from payments.models import Event

EVENTS = Feed(*(Event, "evt", CompiledQuery(events_page), event_filters), newer=CompiledQuery(newer_events))
find = Finder("evt", Event.objects.of)


class EventViewSet(ApiViewSet):
    """The merchant's events, for a receiver that missed some."""

    query_serializers = {"list": EventListQuery}
    reads = "events:read"

    def list(self, request: Request) -> HttpResponse:
        return show_feed(request, self.caller(request), EVENTS, self.query, _render)

    def retrieve(self, request: Request, pk: str) -> HttpResponse:
        return json_response(bytes(find(self.caller(request), pk).payload))


def _render(event: Event) -> Any:
    return loads(bytes(event.payload).decode())
