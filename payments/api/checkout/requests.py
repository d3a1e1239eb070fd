"""Payment requests, by `/v2/payment_requests/` and their other addresses (checkout law, sections 1, 2 and 5)."""

from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from rest_framework.decorators import action
from rest_framework.request import Request

from payments.api.checkout.sessions import CheckoutViewSet, alias_of
from payments.api.responses.stored_answers import answer_of
from payments.api.validation.payment_requests import (
    CollectingRequestInput,
    CollectInput,
    RequestInput,
    RequestListQuery,
    VoidInput,
    status,
)
from payments.api.validation.strict import Nothing
from payments.api.views.lists import Filters, Listing, show_page
from payments.api.views.numbered_pages import NumberedPageQuery, show_numbered_page
from payments.db.compiled_query import CompiledQuery
from payments.db.scoped_queryset import LAST_ID
from payments.domain.checkout import collect, requests
from payments.domain.shared.caller import Caller
from payments.domain.shared.idempotency import StoredAnswer
from payments.models import Checkout
from payments.rendering.objects.payment_requests import REQUEST, VOIDED

State = Checkout.State
# What the filter `status` means.
STATES = {"open": [State.UNPAID, State.PAYING], "paid": [State.PAID], "voided": [State.VOIDED]}


def _narrow(caller: Caller, query: Mapping[str, Any], after: UUID | None) -> Filters:
    return {"below": after or LAST_ID, "status": _place_of(query)}


def requests_page(
    *, merchant_id: UUID, livemode: bool, length: int, below: UUID, status: int | None
) -> QuerySet[Checkout]:
    """Return the newest requests, of the status at this place of STATES; None is any."""
    rows = Checkout.objects.requests().whole(merchant_id)
    return rows.newest_page(_paths(merchant_id, livemode, status), length, below)


def _place_of(query: Mapping[str, Any]) -> int | None:
    return list(STATES).index(query["status"]) if query.get("status") else None


def _paths(merchant_id: UUID, livemode: bool, status: int | None) -> list[dict[str, Any]]:
    """Return the paths of `newest_page` to the requests with this status; None is any."""
    path = {"merchant_id": merchant_id, "livemode": livemode, "kind": Checkout.Kind.REQUEST}
    return [path] if status is None else [path | {"state": state} for state in list(STATES.values())[status]]


REQUESTS = Listing(
    *(Checkout, "pr", CompiledQuery(requests_page, for_rendering=True), _narrow),
    within={"kind": Checkout.Kind.REQUEST},
)


class NumberedRequestQuery(NumberedPageQuery):
    """The filters of the list by the other addresses."""

    status = status()


CHANGED = answer_of(REQUEST)


class RequestViewSet(CheckoutViewSet):
    """Payment requests; each action calls one function of the domain."""

    shown, find = REQUEST, requests.find
    query_serializers = {"list": RequestListQuery}
    alias_queries = {"list": NumberedRequestQuery}

    def list(self, request: Request) -> HttpResponse:
        caller = self.caller(request)
        if alias_of(request):
            path, *more = _paths(caller.merchant_id, caller.livemode, _place_of(self.query))
            rows = Checkout.objects.requests().whole(caller.merchant_id)
            return show_numbered_page(request, rows, path, self.query, REQUEST.render, *more)
        return show_page(request, caller, REQUESTS, self.query, REQUEST.render)

    def create(self, request: Request) -> HttpResponse:
        # Programs of the other addresses know no more members.
        accepted = RequestInput if alias_of(request) else CollectingRequestInput
        return self.make(request, accepted, partial(requests.create, render=answer_of(REQUEST, 201)))

    @action(detail=True, methods=["post"])
    def void(self, request: Request, pk: str) -> HttpResponse:
        def verb(caller: Caller, body: dict[str, Any]) -> StoredAnswer:
            return requests.void(caller, pk, body["reason"], answer_of(VOIDED)).answer

        return self.run(request, VoidInput, verb)

    @action(detail=True, methods=["post"])
    def resend(self, request: Request, pk: str) -> HttpResponse:
        return self.run(request, Nothing, lambda caller, _: requests.resend(caller, pk, CHANGED).answer)

    @action(detail=True, methods=["post"])
    def collect(self, request: Request, pk: str) -> HttpResponse:
        return self.run(request, CollectInput, lambda caller, body: collect.begin(caller, pk, body, CHANGED).answer)

    @action(detail=True, methods=["post"])
    def stop_collecting(self, request: Request, pk: str) -> HttpResponse:
        return self.run(request, Nothing, lambda caller, _: collect.stop(caller, pk, CHANGED).answer)
