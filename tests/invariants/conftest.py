import pytest

from tests.client import Api
from tests.invariants.history import History


@pytest.fixture
def history(api: Api) -> History:
    """A shop to which everything has happened."""
    return History(api)
