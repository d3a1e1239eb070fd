"""The routes of `/v2`. Each answers with and without its trailing slash, never by a redirect."""

from django.urls import re_path
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
