"""Checkout sessions, by `/v2/checkout_sessions/` and their other addresses (checkout law, sections 1 to 3)."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from rest_framework.decorators import action
from rest_framework.request import Request

from payments.api.access.authentication import key_of
from payments.api.access.product_paths import ALIAS, Alias
from payments.api.responses.rendering import json_response
from payments.api.validation.checkout import PartInput, SessionInput
from payments.api.validation.query_fields import PageQuery
from payments.api.validation.strict import Nothing, StrictSerializer
from payments.api.views.lists import Filters, Listing, read_page, show_page
from payments.api.views.viewset import ApiViewSet
from payments.db.scoped_queryset import LAST_ID
from payments.domain.checkout import sessions
from payments.domain.shared.caller import Caller
from payments.domain.shared.idempotency import StoredAnswer
from payments.json_codecs.verbatim_json import to_bytes
from payments.models import Checkout
from payments.rendering.objects.checkout import SESSION


class CheckoutViewSet(ApiViewSet):
    """The base of sessions, links and requests."""

    # By action, the query by the other addresses, where it differs.
    alias_queries: Mapping[str, type[StrictSerializer]] = {}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if alias_of(request):
            self.query_serializers = {**self.query_serializers, **self.alias_queries}
        super().initial(request, *args, **kwargs)


def alias_of(request: Request) -> Alias | None:
    """Return the other address by which a request came, None for the canonical path."""
    found: Alias | None = request.META.get(ALIAS)
    return found


def _narrow(caller: Caller, query: Mapping[str, Any], after: UUID | None) -> Filters:
    return {"below": after or LAST_ID}


def _page(*, merchant_id: UUID, livemode: bool, length: int, below: UUID) -> list[Checkout]:
    path = {"merchant_id": merchant_id, "livemode": livemode, "kind": Checkout.Kind.SESSION}
    return list(Checkout.objects.whole(merchant_id).newest_page([path], length, below))


SESSIONS = Listing(Checkout, "cs", _page, _narrow, within={"kind": Checkout.Kind.SESSION})


def _answer(status: int, session: Checkout) -> StoredAnswer:
    return StoredAnswer(status, to_bytes(SESSION.render(session)))


def _created(session: Checkout) -> StoredAnswer:
    return _answer(201, session)


def _changed(session: Checkout) -> StoredAnswer:
    return _answer(200, session)


class SessionViewSet(CheckoutViewSet):
    """Checkout sessions; each action calls one function of the domain."""

    query_serializers = {"list": PageQuery}
    rights = {
        "list": "checkout:read",
        "retrieve": "checkout:read",
        "create": "checkout:write",
        "expire": "checkout:write",
        "capture": "checkout:write",
    }

    def list(self, request: Request) -> HttpResponse:
        caller = self.caller(request)
        if alias_of(request):
            return json_response([*map(SESSION.render, read_page(caller, SESSIONS, self.query, self.query["limit"]))])
        return show_page(request, caller, SESSIONS, self.query, SESSION.render)

    def create(self, request: Request) -> HttpResponse:
        alias = alias_of(request)
        merchant = key_of(request).merchant

        def verb(caller: Caller, body: dict[str, Any]) -> StoredAnswer:
            order = _order(body) | ({"names_session": True} if alias and alias.is_older else {})
            return sessions.create(caller, merchant, order, _created).answer

        return self.run(request, SessionInput, verb)

    def retrieve(self, request: Request, pk: str) -> HttpResponse:
        return json_response(SESSION.render(sessions.find(self.caller(request), pk)))

    @action(detail=True, methods=["post"])
    def expire(self, request: Request, pk: str) -> HttpResponse:
        return self.run(request, Nothing, lambda caller, _: sessions.expire(caller, pk, _changed).answer)

    @action(detail=True, methods=["post"])
    def capture(self, request: Request, pk: str) -> HttpResponse:
        def verb(caller: Caller, body: dict[str, Any]) -> StoredAnswer:
            caller.require_right("charges:write")
            return sessions.capture(caller, pk, body.get("amount"), _changed).answer

        return self.run(request, PartInput, verb)


def _order(body: dict[str, Any]) -> dict[str, Any]:
    """Return the order of a validated body, its end as a moment."""
    seconds = body.pop("expires_at", None)
    body.pop("amount", None)
    return body | ({"expires_at": datetime.fromtimestamp(seconds, UTC)} if seconds else {})
