"""A blocked card in live mode: no provider is asked, and the answer is the provider's own, after as long a time."""

import re
from datetime import timedelta

import pytest

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.risk import blocks
from payments.models import Attempt, Charge
from tests.client import DECLINED, Api
from tests.provider_events.live.world import WORLDS
from tests.risk.factories import block_card
from tests.risk.test_blocked_answers import form_of
from tests.routing.doubles import Psp, account_at, route_to


@pytest.mark.long
@pytest.mark.parametrize("provider", WORLDS)
@pytest.mark.parametrize("require_auth", [True, False])
def test_in_live_mode_it_is_the_provider_s_own_decline(
    shop: NewMerchant, provider: str, require_auth: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "USUAL_DECLINE_SECONDS", (0, 0))
    with WORLDS[provider](shop) as world:
        source = world.card_source(world.bench.card("card_declined"))
        declined = world.live.charge_source(source, require_auth=require_auth)
        world.happen()
        card = world.bench.card()
        block_card(card.number, livemode=True)
        asked_before = len(world.bench.fake.requests)
        blocked = world.live.charge_source(world.card_source(card), require_auth=require_auth)
        assert len(world.bench.fake.requests) == asked_before
        for charge in (declined, blocked):
            answer = charge["failure_data"]["provider_response"]
            answer["logref"] = re.sub("[A-Z0-9]" if answer["logref"].isupper() else "[0-9a-f]", "x", answer["logref"])
            charge["source"]["card"]["name"] = "own"
        assert form_of(blocked) == form_of(declined)


@pytest.mark.parametrize("seconds", [2.5, 5])
def test_it_takes_as_long_as_a_decline_of_its_route_took(
    shop: NewMerchant, live: Api, north: Psp, seconds: float
) -> None:
    route = route_to(account_at(north, shop.merchant))
    live.charge(DECLINED)
    declined = Attempt.objects.get(outcome="Declined")
    took = timedelta(seconds=seconds)
    Attempt.objects.filter(id=declined.id).update(updated_at=declined.created_at + took)
    assert blocks.decline_seconds(Attempt(route=route)) == pytest.approx(seconds)


def test_the_time_of_a_payer_who_was_asked_first_is_nobody_s_measure(shop: NewMerchant, live: Api, north: Psp) -> None:
    route = route_to(account_at(north, shop.merchant))
    live.charge(DECLINED)
    Attempt.objects.update(created_at=clock.now() - timedelta(hours=1))
    least, most = blocks.USUAL_DECLINE_SECONDS
    assert least <= blocks.decline_seconds(Attempt(route=route)) <= most


@pytest.mark.long
def test_another_provider_is_not_asked_either(shop: NewMerchant, live: Api, north: Psp, south: Psp) -> None:
    route_to(account_at(north, shop.merchant), position=1)
    route_to(account_at(south, shop.merchant), position=2)
    block_card(livemode=True)
    charge = live.charge()
    assert (charge["status"], north.asked, south.asked) == ("failed", [], [])
    assert Charge.objects.get().attempts.count() == 1
