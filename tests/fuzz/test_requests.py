"""A few hundred of the requests that `python -m tests.figures fuzz` draws by the hundred thousand."""

import pytest
from pytest_django import Settings

from tests.fuzz.runner import run_cases

pytestmark = pytest.mark.django_db(transaction=True)

CASES = 300
# The same ones in every run: the figure draws anew.
SEED = 20261121


@pytest.fixture(autouse=True)
def _no_limits(settings: Settings) -> None:
    """All of these come from one key, one address and at once."""
    settings.RATE_LIMIT = settings.RATE_LIMIT_ANONYMOUS = "1000000/second"


@pytest.mark.long
def test_whatever_is_sent_is_answered_as_documented_and_no_refusal_changes_anything() -> None:
    tally = run_cases(CASES, SEED)
    assert (tally.cases, tally.examples) == (CASES, {})
