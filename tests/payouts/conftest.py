import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from payments.domain.merchants.merchants import NewMerchant
from payments.models import PayoutAccount
from tests.operators.factories import person
from tests.payouts.live import DEBTORS, live_account


@pytest.fixture
def debtors(settings: Settings) -> None:
    """Set accounts of ours that bank files are paid from."""
    settings.PAYOUT_DEBTOR_NAME, settings.PAYOUT_DEBTOR_ACCOUNTS = "Kaha Philippines Inc.", DEBTORS


@pytest.fixture
def account(shop: NewMerchant) -> PayoutAccount:
    """Return the shop's bank account of live mode."""
    return live_account(shop.merchant)


@pytest.fixture
def ana() -> User:
    return person("ana")


@pytest.fixture
def ben() -> User:
    return person("ben")
