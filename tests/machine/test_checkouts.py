"""Histories of checkouts by a seed."""

from random import Random

import pytest
from django.db import transaction
from pytest_django.fixtures import Settings

from tests.high_limits import MANY_DECLINES
from tests.machine.checkouts import run_history
from tests.machine.runner import NEVER_BY_ITSELF_SECONDS

pytestmark = [pytest.mark.django_db, pytest.mark.long]
SEED = 20261129
HISTORIES, AT_ONCE = 500, 50


@pytest.mark.parametrize("first", range(0, HISTORIES, AT_ONCE))
def test_a_checkout_is_moved_by_its_one_charge_and_every_invariant_holds_after_each_act(
    first: int, settings: Settings
) -> None:
    settings.SIMULATOR_REFUND_DELAY_SECONDS = NEVER_BY_ITSELF_SECONDS
    settings.DECLINE_LIMITS_TEST = MANY_DECLINES
    settings.RATE_LIMIT = settings.RATE_LIMIT_ANONYMOUS = "1000000/second"
    for number in range(first, first + AT_ONCE):
        with transaction.atomic():
            run_history(Random(f"{SEED} {number}"))
            transaction.set_rollback(True)
