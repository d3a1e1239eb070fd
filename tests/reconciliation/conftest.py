import pytest
from pytest_django.fixtures import Settings


@pytest.fixture(autouse=True)
def _at_once(settings: Settings) -> None:
    """Use no margin, and let refunds end with the simulator's next message."""
    settings.RECONCILIATION_MARGIN_MINUTES = 0
    settings.SIMULATOR_REFUND_DELAY_SECONDS = 0
