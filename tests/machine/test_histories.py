"""After each step of a history the API answers what the contract's model says, and in the end the books do too."""

import pytest
from pytest_django.fixtures import Settings

from tests.high_limits import MANY_DECLINES
from tests.machine.runner import NEVER_BY_ITSELF_SECONDS, run_histories

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]


def test_after_each_step_of_any_history_the_api_answers_what_the_model_says(settings: Settings) -> None:
    settings.SIMULATOR_REFUND_DELAY_SECONDS = NEVER_BY_ITSELF_SECONDS
    settings.DECLINE_LIMITS_TEST = MANY_DECLINES
    run_histories(histories=20, seed=6)
