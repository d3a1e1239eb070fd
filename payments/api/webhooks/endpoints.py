from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from rest_framework.decorators import action
from rest_framework.request import Request

from payments.api.responses.rendering import json_response
from payments.api.validation.query_fields import PageQuery
from payments.api.validation.strict import Nothing
from payments.api.validation.webhook_endpoints import EndpointChanges, EndpointInput, RollInput
from payments.api.views.lists import Listing, ListViewSet
from payments.db.compiled_query import CompiledQuery
from payments.domain.shared import idempotency
from payments.domain.shared.caller import Caller
from payments.domain.shared.errors import rate_limited
from payments.domain.shared.idempotency import StoredAnswer
from payments.domain.webhooks import endpoints
from payments.domain.webhooks.test_event import NotSent
from payments.json_codecs.verbatim_json import to_bytes
from payments.models import WebhookEndpoint
from payments.rendering.objects.webhook_endpoints import (
    DELETED_WEBHOOK_ENDPOINT,
    WEBHOOK_ENDPOINT,
    WEBHOOK_TEST,
    render_new,
)
from payments.webhooks.transport.results import Answer, Failure

RETRY_TEST_SECONDS = 5


def endpoints_page(*, merchant_id: UUID, livemode: bool, length: int, below: UUID) -> QuerySet[WebhookEndpoint]:
    """Return the newest endpoints."""
    path = {"merchant_id": merchant_id, "livemode": livemode}
    return WebhookEndpoint.objects.present().newest_page([path], length, below)


ENDPOINTS = Listing(WebhookEndpoint, "we", CompiledQuery(endpoints_page, for_rendering=True))


class WebhookEndpointViewSet(ListViewSet):
    """The merchant's webhook endpoints; each verb is one function of the domain."""

    listing, shown, find = ENDPOINTS, WEBHOOK_ENDPOINT, endpoints.find
    query_serializers = {"list": PageQuery}
    reads, writes = "webhooks:read", "webhooks:write"

    def create(self, request: Request) -> HttpResponse:
        return self.run(request, EndpointInput, lambda caller, body: endpoints.create(caller, body, _created).answer)

    def update(self, request: Request, pk: str) -> HttpResponse:
        changes = self.body(EndpointChanges)
        return json_response(WEBHOOK_ENDPOINT.render(endpoints.update(self.caller(request), pk, changes)))

    def destroy(self, request: Request, pk: str) -> HttpResponse:
        self.body(Nothing)
        endpoints.delete(self.caller(request), pk)
        return json_response(DELETED_WEBHOOK_ENDPOINT.render(pk))

    @action(detail=True, methods=["post"])
    def test(self, request: Request, pk: str) -> HttpResponse:
        return self.run(request, Nothing, lambda caller, _: _test(caller, pk))

    @action(detail=True, methods=["post"])
    def roll_secret(self, request: Request, pk: str) -> HttpResponse:
        def roll(caller: Caller, body: dict[str, Any]) -> StoredAnswer:
            overlap = timedelta(seconds=body["overlap_seconds"])
            return endpoints.roll_secret(caller, pk, overlap, _rolled).answer

        return self.run(request, RollInput, roll)


def _created(endpoint: WebhookEndpoint, secret: str | None) -> StoredAnswer:
    return StoredAnswer(201, to_bytes(render_new(endpoint, secret)))


def _rolled(endpoint: WebhookEndpoint, secret: str | None) -> StoredAnswer:
    return StoredAnswer(200, to_bytes(render_new(endpoint, secret)))


def _test(caller: Caller, pk: str) -> StoredAnswer:
    """Send a test event, once for an idempotency key unless two requests race. Raise PaymentError."""
    idempotency.look_up(caller)
    try:
        result = endpoints.send_test(endpoints.find(caller, pk))
    except NotSent:
        raise rate_limited(RETRY_TEST_SECONDS) from None
    answer = StoredAnswer(200, to_bytes(WEBHOOK_TEST.render(TestShown(result))))
    idempotency.store_answer(caller, answer)
    return answer


class TestShown:
    """What came of a test event, as the API shows it."""

    def __init__(self, result: Answer | Failure) -> None:
        self.status = result.status if isinstance(result, Answer) else None
        self.error = result.kind.value if isinstance(result, Failure) else None
        self.delivered = isinstance(result, Answer) and result.is_proper
        self.milliseconds = result.milliseconds
