"""Webhooks that are faster than the answer to the request that they are about."""

from collections.abc import Iterator

import pytest

from payments.domain.merchants.merchants import NewMerchant
from payments.providers.http import Connections
from tests.charging.elapsed_time import recover
from tests.provider_events.live.world import WORLDS, World, asked_by
from tests.providers.bench import Money, Spoilt
from tests.providers.sender import HASTE_SECONDS, Sender

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def sender() -> Sender:
    return Sender(Connections(HASTE_SECONDS))


@pytest.fixture(params=WORLDS)
def world(request: pytest.FixtureRequest, shop: NewMerchant, sender: Sender) -> Iterator[World]:
    with asked_by(sender.send, request.param), WORLDS[request.param](shop) as world:
        yield world


@pytest.mark.long
def test_a_hold_reported_by_webhook_before_its_answer_is_lost_is_kept(world: World, sender: Sender) -> None:
    sender.meanwhile = world.happen
    world.spoil_next(Spoilt.FAILING)
    charge = world.live.held()
    world.happen()
    recover()
    world.happen()
    assert (world.live.read(charge)["authorized"], world.money) == (True, Money(held=10_000))


def test_a_hold_reported_by_webhook_during_a_lookup_is_kept(world: World, sender: Sender) -> None:
    world.spoil_next(Spoilt.LOST)
    charge = world.live.held()
    sender.meanwhile = world.happen
    world.spoil_next(Spoilt.FAILING)
    recover()
    world.happen()
    assert (world.live.read(charge)["authorized"], world.money) == (True, Money(held=10_000))
