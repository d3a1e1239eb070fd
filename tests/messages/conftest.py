import pytest

from payments.domain.merchants.merchants import NewMerchant
from tests.inbox.conftest import server  # noqa: F401


@pytest.fixture
def shop(shop: NewMerchant) -> NewMerchant:
    """Return a shop that sends receipts and says whom to ask."""
    merchant = shop.merchant
    merchant.send_receipts = True
    merchant.support_email, merchant.support_phone = "hello@tala.example", "0917 555 0142"
    merchant.save()
    return shop
