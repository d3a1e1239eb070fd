from typing import Any

import pytest

from tests.client import Api
from tests.customers.factories import new_customer


@pytest.fixture
def maria(api: Api) -> dict[str, Any]:
    """Return a customer of the shop, in test mode."""
    return new_customer(api)
