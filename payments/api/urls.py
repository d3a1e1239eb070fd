"""The routes of `/v2`. Each answers with and without its trailing slash, never by a redirect."""

import re
from functools import cached_property
from typing import Any

from django.urls import ResolverMatch, URLResolver, re_path
from django.urls.resolvers import RoutePattern
from rest_framework.routers import SimpleRouter

from payments.api.account import AccountViewSet
from payments.api.charges import ChargeViewSet
from payments.api.checkout.links import LinkViewSet
from payments.api.checkout.requests import RequestViewSet as PaymentRequestViewSet
from payments.api.checkout.sessions import SessionViewSet
from payments.api.clock import ClockViewSet
from payments.api.disputes import DisputeViewSet
from payments.api.events import EventViewSet
from payments.api.payouts import BalanceTransactionViewSet, PayoutViewSet, ProofViewSet
from payments.api.requests import RequestViewSet
from payments.api.sources import SourceViewSet
from payments.api.webhooks.endpoints import WebhookEndpointViewSet

FIRST_WORD = re.compile(r"\^?([a-z_]+)")


class ApiResolver(URLResolver):
    """Resolves the paths of `/v2`: tries only the patterns that begin with the first word of a path, of some fifty."""

    def __init__(self, patterns: list[Any]) -> None:
        super().__init__(RoutePattern("v2/"), patterns)

    @cached_property
    def _by_word(self) -> dict[str, URLResolver]:
        words: dict[str, list[Any]] = {}
        for pattern in self.url_patterns:
            word = FIRST_WORD.match(str(pattern.pattern))
            words.setdefault(word[1] if word else "", []).append(pattern)
        return {word: URLResolver(self.pattern, patterns) for word, patterns in words.items()}

    def resolve(self, path: str) -> ResolverMatch:
        found = self.pattern.match(path)
        own = self._by_word.get(found[0].partition("/")[0]) if found else None
        return own.resolve(path) if own else super().resolve(path)


class OptionalSlashRouter(SimpleRouter):
    def __init__(self) -> None:
        super().__init__()
        self.trailing_slash = "/?"


router = OptionalSlashRouter()
router.register("charges", ChargeViewSet, basename="charge")
router.register("sources", SourceViewSet, basename="source")
router.register("checkout_sessions", SessionViewSet, basename="checkout-session")
router.register("payment_requests", PaymentRequestViewSet, basename="payment-request")
router.register("payment_links", LinkViewSet, basename="payment-link")
router.register("disputes", DisputeViewSet, basename="dispute")
router.register("payouts", PayoutViewSet, basename="payout")
router.register("balance_transactions", BalanceTransactionViewSet, basename="transaction")
router.register("proofs", ProofViewSet, basename="proof")
router.register("events", EventViewSet, basename="event")
router.register("webhook_endpoints", WebhookEndpointViewSet, basename="endpoint")
router.register("requests", RequestViewSet, basename="request")

urlpatterns = [
    *router.urls,
    re_path(r"^me/?$", AccountViewSet.as_view({"get": "me"}), name="me"),
    re_path(r"^balance/?$", AccountViewSet.as_view({"get": "balance"}), name="balance"),
    re_path(r"^ping/?$", AccountViewSet.as_view({"get": "ping"}), name="ping"),
    re_path(r"^test/clock/?$", ClockViewSet.as_view({"post": "advance"}), name="clock"),
    re_path(r"^test/events/?$", ClockViewSet.as_view({"post": "cause"}), name="cause"),
]
