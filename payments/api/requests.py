from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from rest_framework.request import Request

from payments.api.filters import newer_requests, requests_page
from payments.api.responses.rendering import json_response
from payments.api.validation.query_fields import FeedQuery
from payments.api.views.feeds import Feed, show_feed
from payments.api.views.viewset import ApiViewSet
from payments.clock import iso
from payments.db.compiled_query import CompiledQuery
from payments.db.scoped_queryset import LAST_ID
from payments.domain.shared.caller import Caller
from payments.domain.shared.errors import not_found
from payments.ids import parse_id, public_id
from payments.models import ApiRequest


def _narrow(_caller: Caller, _query: Mapping[str, Any], after: UUID | None) -> dict[str, Any]:
    return {"below": after or LAST_ID}


REQUESTS = Feed(
    *(ApiRequest, "req", CompiledQuery(requests_page), _narrow, "request_id"),
    newer=CompiledQuery(newer_requests),
    is_logged=False,
)


class RequestViewSet(ApiViewSet):
    """The merchant's own requests of the last days."""

    query_serializers = {"list": FeedQuery}
    rights = {"list": "requests:read", "retrieve": "requests:read"}

    def list(self, request: Request) -> HttpResponse:
        return show_feed(request, self.caller(request), REQUESTS, self.query, _render)

    def retrieve(self, request: Request, pk: str) -> HttpResponse:
        caller, uuid = self.caller(request), parse_id("req", pk)
        own = ApiRequest.objects.of(caller.merchant_id, caller.livemode)
        found = own.filter(request_id=uuid).first() if uuid else None
        if found is None:
            raise not_found("request", text=pk)
        return json_response(_render(found))


def _render(row: ApiRequest) -> dict[str, Any]:
    return {
        "object": "request",
        "id": public_id("req", row.request_id),
        "method": row.method,
        "path": row.path,
        "status": row.status,
        "milliseconds": row.milliseconds,
        "livemode": row.livemode,
        "created_at": iso(row.created_at),
    }
