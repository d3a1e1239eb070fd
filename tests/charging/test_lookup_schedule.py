from datetime import timedelta

import pytest

from payments import clock
from payments.domain.charging import recovery
from payments.domain.due_rows import next_lookup_at
from payments.models import Attempt
from payments.providers.simulator.connector import Simulator
from tests.charging.doubles import KnowsNothing, Unreachable, provider
from tests.client import NEVER_ARRIVES, Api

DELAYS_SECONDS = [5, 30, 120, 600, 3600, 3600, 3600]


@pytest.mark.parametrize(("tries", "seconds"), list(enumerate(DELAYS_SECONDS)))
def test_the_next_lookup_is_soon_at_first_and_hourly_in_the_end(tries: int, seconds: int) -> None:
    now = clock.now()
    assert next_lookup_at(now, tries) == now + timedelta(seconds=seconds)


@pytest.mark.parametrize("double", [KnowsNothing(), Unreachable()], ids=["unknown", "unreachable"])
def test_lookups_that_find_nothing_follow_the_schedule(double: Simulator, api: Api) -> None:
    api.charge(NEVER_ARRIVES)
    for seconds in DELAYS_SECONDS[1:]:
        delay = timedelta(seconds=seconds)
        earliest = clock.now() + delay
        with provider(double):
            recovery.resolve(Attempt.objects.get())
        assert earliest <= Attempt.objects.get().due_at <= clock.now() + delay
