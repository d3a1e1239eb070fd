import pytest
from pytest_django.fixtures import Settings

from tests.client import Api
from tests.invariants.history import History


@pytest.fixture
def history(api: Api, settings: Settings) -> History:
    """A shop to which everything has happened."""
    # A refund that is to be pending at the end must not come to its own by itself.
    settings.SIMULATOR_REFUND_DELAY_SECONDS = 3600
    return History(api)
