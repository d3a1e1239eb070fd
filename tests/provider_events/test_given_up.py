"""A capture that never arrived, and another that was taken since."""

from collections.abc import Iterator

import pytest

from payments.domain.merchants.merchants import NewMerchant
from payments.models import Attempt
from payments.models.charging.attempt import SECOND_LOOKS
from tests.charging.elapsed_time import recover
from tests.client import made
from tests.provider_events.live.world import World, xendit_world
from tests.providers.bench import Spoilt

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(shop: NewMerchant) -> Iterator[World]:
    with xendit_world(shop) as world:
        yield world


def test_a_capture_that_never_arrived_is_not_looked_for_for_ever_when_another_was_taken(world: World) -> None:
    charge = world.live.held()
    world.spoil_next(Spoilt.DROPPED)
    world.live.post(f"/charges/{charge['id']}/capture", {"amount": 6_537})
    recover()
    assert made(world.live.post(f"/charges/{charge['id']}/capture", {"amount": 5_229}))["captured"]
    for _ in range(SECOND_LOOKS):
        recover()
    assert not Attempt.objects.filter(due_at__isnull=False).exists()
