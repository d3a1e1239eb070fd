from collections.abc import Iterator

import pytest
from pytest_django.fixtures import Settings

from payments.domain.merchants.merchants import NewMerchant
from payments.models import ProviderAccount
from tests.client import Api
from tests.provider_events.psp import WebhookPsp, reporting
from tests.routing.doubles import account_at, route_to


@pytest.fixture
def psp() -> Iterator[WebhookPsp]:
    with reporting(WebhookPsp()) as psp:
        yield psp


@pytest.fixture
def account(psp: WebhookPsp, shop: NewMerchant) -> ProviderAccount:
    """Return the shop's account at `psp`, the route of its cards and wallets."""
    account = account_at(psp, shop.merchant)
    for source_type in ("card", "gcash", "qrph"):
        route_to(account, source_type)
    return account


@pytest.fixture
def live(shop: NewMerchant, account: ProviderAccount, settings: Settings) -> Api:
    """Return the API with the shop's secret live key, where live cards are on."""
    settings.LIVE_CARDS_ATTESTED = True
    return Api(shop.keys["sk_live"])
