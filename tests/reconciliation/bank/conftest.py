import pytest

from payments.models import OwnBankAccount
from tests.payouts.conftest import account, ben, debtors  # noqa: F401
from tests.reconciliation.bank.stories import own_account


@pytest.fixture
def ours(db: None) -> OwnBankAccount:
    """Return the account that bank files in PHP are paid from, and to which the simulator pays."""
    return own_account()
