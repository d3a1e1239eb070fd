from collections.abc import Iterator

import pytest
from pytest_django.fixtures import Settings

from payments.domain.merchants.merchants import NewMerchant
from tests.inbox.smtp import Server, use


@pytest.fixture
def server(settings: Settings) -> Iterator[Server]:
    """Yield a mail server that takes every mail."""
    with Server() as server:
        use(settings, server)
        yield server


@pytest.fixture
def shop(shop: NewMerchant) -> NewMerchant:
    """Return a shop that sends receipts and says whom to ask."""
    merchant = shop.merchant
    merchant.send_receipts = True
    merchant.support_email, merchant.support_phone = "hello@tala.example", "0917 555 0142"
    merchant.save()
    return shop
