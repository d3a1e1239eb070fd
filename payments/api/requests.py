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
from payments.db.compiled_query import CompiledQuery
from payments.db.scoped_queryset import LAST_ID
from payments.domain.shared.caller import Caller
from payments.domain.shared.finder import Finder
from payments.models import ApiRequest
from payments.rendering.objects import member
from payments.rendering.objects.api_object import ApiObject, Member
from payments.rendering.objects.charges import CHARGE_ID
from payments.rendering.objects.events import REQUEST_ID


def _narrow(_caller: Caller, _query: Mapping[str, Any], after: UUID | None) -> dict[str, Any]:
    return {"below": after or LAST_ID}


REQUESTS = Feed(
    *(ApiRequest, "req", CompiledQuery(requests_page), _narrow, "request_id"),
    newer=CompiledQuery(newer_requests),
    is_logged=False,
)
find = Finder("req", ApiRequest.objects.of, "request_id")

REQUEST = ApiObject(
    "Request",
    "A request that was made with one of your keys.",
    object=member.named("request"),
    id=member.own_id("req", REQUEST_ID, text="The `Request-Id` of its answer.", read="request_id"),
    method=member.text("The HTTP method.", "POST"),
    path=member.text(
        "The path without its query, with `*` in place of an e-mail address or other text of yours.",
        f"/v2/charges/{CHARGE_ID}/capture",
    ),
    status=Member({"type": "integer", "minimum": 100, "maximum": 599}, "The HTTP status of the answer.", example=200),
    milliseconds=member.number("How long the answer took.", 12),
    livemode=member.livemode(),
    created_at=member.created(),
)


class RequestViewSet(ApiViewSet):
    """The merchant's own requests of the last days."""

    query_serializers = {"list": FeedQuery}
    reads = "requests:read"

    def list(self, request: Request) -> HttpResponse:
        return show_feed(request, self.caller(request), REQUESTS, self.query, REQUEST.render)

    def retrieve(self, request: Request, pk: str) -> HttpResponse:
        return json_response(REQUEST.render(find(self.caller(request), pk)))
