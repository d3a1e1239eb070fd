"""Webhook endpoints for tests, without the API."""

from typing import Any

from payments.domain.webhooks import endpoints
from payments.models import Merchant, WebhookEndpoint

URL, OTHER = "https://shop.example/kaha?token=s3cret", "https://elsewhere.example/kaha"


def add_endpoint(
    merchant: Merchant, url: str = URL, events: tuple[str, ...] = ("*",), livemode: bool = False, **members: Any
) -> WebhookEndpoint:
    """Return a new endpoint of the merchant."""
    return add_with_secret(merchant, url, events, livemode, **members)[0]


def add_with_secret(
    merchant: Merchant, url: str = URL, events: tuple[str, ...] = ("*",), livemode: bool = False, **members: Any
) -> tuple[WebhookEndpoint, str]:
    """Return a new endpoint of the merchant, and its secret."""
    return endpoints.add(merchant.id, livemode, url=url, enabled_events=list(events), **members)
