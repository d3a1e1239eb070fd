import pytest
from pytest_django.fixtures import Settings


@pytest.fixture(autouse=True)
def _at_once(settings: Settings) -> None:
    """What was booked a moment ago is judged, and refunds end as soon as the simulator is heard."""
    settings.RECONCILIATION_MARGIN_MINUTES = 0
    settings.SIMULATOR_REFUND_DELAY_SECONDS = 0
