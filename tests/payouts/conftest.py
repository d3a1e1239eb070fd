import pytest

from payments.domain.merchants.merchants import NewMerchant
from tests.ledger.books import charge_fees


@pytest.fixture
def fees(shop: NewMerchant) -> None:
    """Set the shop's fee for card charges in pesos: 3.5 % and 15 centavos."""
    charge_fees(shop.merchant)
