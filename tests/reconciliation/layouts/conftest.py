import pytest

from payments.models import OwnBankAccount
from tests.office.conftest import office  # noqa: F401  people in roles, each with a browser
from tests.pages.conftest import browser  # noqa: F401
from tests.reconciliation.bank.stories import own_account
from tests.reconciliation.layouts.stories import COLUMNS, Role, layout_in_force


@pytest.fixture
def bank_account(db: None) -> OwnBankAccount:
    """Return an account of ours without a layout."""
    return own_account()


@pytest.fixture
def ours(bank_account: OwnBankAccount) -> OwnBankAccount:
    """Return an account of ours with a layout."""
    layout_in_force(bank_account.name, columns=COLUMNS | {Role.TEXT: "Payment ID"})
    return bank_account
