from django.http import HttpResponse
from rest_framework.request import Request

from payments.api.filters import newer_requests, requests_page
from payments.api.validation.query_fields import FeedQuery
from payments.api.views.feeds import Feed, show_feed
from payments.api.views.lists import ObjectViewSet
from payments.db.compiled_query import CompiledQuery
from payments.domain.shared.finder import Finder
from payments.models import ApiRequest
from payments.rendering.objects import member
from payments.rendering.objects.api_object import ApiObject, Member
from payments.rendering.objects.charges import CHARGE_ID
from payments.rendering.objects.events import REQUEST_ID

REQUESTS = Feed(
    *(ApiRequest, "req", CompiledQuery(requests_page)),
    shown_id="request_id",
    newer=CompiledQuery(newer_requests),
    is_logged=False,
)
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
find_request = Finder("req", ApiRequest.objects.of, "request_id")


class RequestViewSet(ObjectViewSet):
    """The merchant's own requests of the last days."""

    shown, find = REQUEST, find_request
    query_serializers = {"list": FeedQuery}
    reads = "requests:read"

    def list(self, request: Request) -> HttpResponse:
        return show_feed(request, self.caller(request), REQUESTS, self.query, REQUEST.render)
