"""Checkout sessions, by `/v2/checkout_sessions/` and their other addresses (checkout law, sections 1 to 3)."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from rest_framework.decorators import action
from rest_framework.request import Request

from payments.api.access.authentication import key_of
from payments.api.access.product_paths import ALIAS, Alias
from payments.api.responses.rendering import json_response
from payments.api.responses.stored_answers import answer_of
from payments.api.validation.checkout import PartInput, SessionInput
from payments.api.validation.query_fields import PageQuery
from payments.api.validation.strict import Nothing, StrictSerializer
from payments.api.views.lists import Listing, ObjectViewSet, read_page, show_page
from payments.db.compiled_query import CompiledQuery
from payments.domain.charging.verbs import CAPTURE
from payments.domain.checkout import sessions
from payments.domain.checkout.verbs import EXPIRE
from payments.domain.shared.caller import Caller
from payments.domain.shared.idempotency import Result, StoredAnswer
from payments.models import Checkout, Merchant
from payments.rendering.objects.checkout import SESSION


class CheckoutViewSet(ObjectViewSet):
    """The base of sessions, links and requests."""

    reads, writes = "checkout:read", EXPIRE.right
    # By action, the query by the other addresses, where it differs.
    alias_queries: Mapping[str, type[StrictSerializer]] = {}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if alias_of(request):
            self.query_serializers = {**self.query_serializers, **self.alias_queries}
        super().initial(request, *args, **kwargs)

    def make(
        self,
        request: Request,
        serializer_class: type[StrictSerializer],
        create: Callable[[Caller, Merchant, dict[str, Any]], Result[Any]],
    ) -> HttpResponse:
        """Validate the body and `create` a row of the key's merchant of it, or replay the answer of this key."""
        merchant = key_of(request).merchant
        return self.run(request, serializer_class, lambda caller, body: create(caller, merchant, body).answer)


def alias_of(request: Request) -> Alias | None:
    """Return the other address by which a request came, None for the canonical path."""
    found: Alias | None = request.META.get(ALIAS)
    return found


def sessions_page(*, merchant_id: UUID, livemode: bool, length: int, below: UUID) -> QuerySet[Checkout]:
    """Return the newest sessions."""
    path = {"merchant_id": merchant_id, "livemode": livemode, "kind": Checkout.Kind.SESSION}
    return Checkout.objects.whole(merchant_id).newest_page([path], length, below)


SESSIONS = Listing(
    Checkout, "cs", CompiledQuery(sessions_page, for_rendering=True), within={"kind": Checkout.Kind.SESSION}
)
CREATED, CHANGED = answer_of(SESSION, 201), answer_of(SESSION)


class SessionViewSet(CheckoutViewSet):
    """Checkout sessions; each action calls one function of the domain."""

    shown, find = SESSION, sessions.find
    query_serializers = {"list": PageQuery}

    def list(self, request: Request) -> HttpResponse:
        caller = self.caller(request)
        if alias_of(request):
            return json_response([*map(SESSION.render, read_page(caller, SESSIONS, self.query, self.query["limit"]))])
        return show_page(request, caller, SESSIONS, self.query, SESSION.render)

    def create(self, request: Request) -> HttpResponse:
        alias = alias_of(request)
        more = {"names_session": True} if alias and alias.is_older else {}

        def create(caller: Caller, merchant: Merchant, body: dict[str, Any]) -> Result[Checkout]:
            return sessions.create(caller, merchant, _order(body) | more, CREATED)

        return self.make(request, SessionInput, create)

    @action(detail=True, methods=["post"])
    def expire(self, request: Request, pk: str) -> HttpResponse:
        return self.run(request, Nothing, lambda caller, _: sessions.expire(caller, pk, CHANGED).answer)

    @action(detail=True, methods=["post"])
    def capture(self, request: Request, pk: str) -> HttpResponse:
        def verb(caller: Caller, body: dict[str, Any]) -> StoredAnswer:
            caller.require_right(CAPTURE.right)
            return sessions.capture(caller, pk, body.get("amount"), CHANGED).answer

        return self.run(request, PartInput, verb)


def _order(body: dict[str, Any]) -> dict[str, Any]:
    """Return the order of a validated body, its end as a moment."""
    seconds = body.pop("expires_at", None)
    body.pop("amount", None)
    return body | ({"expires_at": datetime.fromtimestamp(seconds, UTC)} if seconds else {})
