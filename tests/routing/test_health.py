"""The circuit of a route opens after repeated outages, and then one charge probes it."""

from datetime import timedelta
from typing import Any

import pytest
from django.http import HttpResponse
from hypothesis import given
from hypothesis import strategies as st

from payments import clock, ids
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.routing.route_health import OPEN_FOR, OUTAGES_IN_A_ROW, RECENT, SAMPLE, health_of, recent_attempts
from payments.models import Attempt, Charge, Route, Source
from payments.providers.base import Declined, NotSent, Outcome, Payment, Unknown
from tests.client import Api, made
from tests.concurrency import at_once, statuses
from tests.routing.doubles import Psp, account_at, installed, route_to

pytestmark = pytest.mark.django_db

OUT = NotSent("ConnectionRefusedError")


def charged(live: Api, key: str | None = None, source: str | None = None) -> HttpResponse:
    body = {"currency": "PHP", "amount": 5_000, "source": source or live.source(), "description": "Halo-halo"}
    return live.post("/charges/", body, key=key)


def wear_out(live: Api, psp: Psp, outcome: Outcome = OUT, times: int = OUTAGES_IN_A_ROW) -> None:
    psp.answers.extend([outcome] * times)
    for _ in range(times):
        made(charged(live))
    psp.asked.clear()


def let_rest(time: timedelta = OPEN_FOR) -> None:
    for attempt in Attempt.objects.filter(outage_at__isnull=False):
        Attempt.objects.filter(id=attempt.id).update(outage_at=attempt.outage_at - time)


@pytest.fixture
def route(north: Psp, shop: NewMerchant) -> Route:
    return route_to(account_at(north, shop.merchant))


@pytest.mark.parametrize("outcome", [OUT, Unknown("timed out")], ids=["unreachable", "no answer"])
def test_after_five_outages_nobody_is_asked(live: Api, north: Psp, route: Route, outcome: Outcome) -> None:
    wear_out(live, north, outcome)
    refusal = charged(live)

    assert refusal.status_code == 503
    assert refusal.json()["error"]["code"] == "provider_unavailable"
    assert 1 <= int(refusal["Retry-After"]) <= OPEN_FOR.total_seconds()
    assert north.asked == []


def test_a_charge_that_nobody_is_asked_for_uses_nothing_up(live: Api, north: Psp, route: Route) -> None:
    wear_out(live, north)
    source, charges = live.source(), Charge.objects.count()
    assert charged(live, "once", source).status_code == 503

    assert Charge.objects.count() == charges
    assert not Source.objects.get(id=ids.parse_id("src", source)).used
    let_rest()
    assert charged(live, "once", source).status_code == 201


def test_four_outages_are_borne(live: Api, north: Psp, route: Route) -> None:
    wear_out(live, north, times=OUTAGES_IN_A_ROW - 1)

    assert charged(live).status_code == 201


def test_an_answer_in_between_begins_the_count_anew(live: Api, north: Psp, route: Route) -> None:
    wear_out(live, north, times=OUTAGES_IN_A_ROW - 1)
    made(charged(live))
    wear_out(live, north, times=OUTAGES_IN_A_ROW - 1)

    assert charged(live).status_code == 201


def test_declines_are_no_outages(live: Api, north: Psp, route: Route) -> None:
    wear_out(live, north, Declined("insufficient_funds"), times=OUTAGES_IN_A_ROW + 1)

    assert charged(live).status_code == 201


def test_the_next_route_is_tried_while_one_is_open(
    live: Api, north: Psp, south: Psp, route: Route, shop: NewMerchant
) -> None:
    wear_out(live, north)
    route_to(account_at(south, shop.merchant), position=2)
    made(charged(live))

    last = Attempt.objects.order_by("id").last()
    assert last is not None
    assert (last.provider, last.chosen) == (
        "south",
        "the first of 2 routes that take it, 1 of which have an open circuit",
    )


def test_after_its_rest_one_charge_is_let_through(live: Api, north: Psp, route: Route) -> None:
    wear_out(live, north)
    let_rest()
    north.answers.append(OUT)

    assert charged(live).status_code == 201
    assert charged(live).status_code == 503


def test_where_the_probe_is_answered_all_go_through(live: Api, north: Psp, route: Route) -> None:
    wear_out(live, north)
    let_rest()

    assert [charged(live).status_code for _ in range(3)] == [201] * 3


class Probed(Psp):
    """While it is asked, somebody else charges, too."""

    live: Api
    others: list[int]

    def create_payment(self, payment: Payment) -> Outcome:
        if not self.answers:
            self.others.append(charged(self.live).status_code)
        return super().create_payment(payment)


def test_while_one_probes_the_others_wait(live: Api, shop: NewMerchant) -> None:
    with installed(Probed("north")) as north:
        north.live, north.others = live, []
        route_to(account_at(north, shop.merchant))
        wear_out(live, north)
        let_rest()
        assert charged(live).status_code == 201

    assert north.others == [503]


@pytest.mark.django_db(transaction=True)
def test_of_charges_that_come_at_once_after_its_rest_each_probes_once_or_waits(
    live: Api, north: Psp, route: Route
) -> None:
    wear_out(live, north)
    let_rest()
    sources = [live.source() for _ in range(4)]
    north.answers.extend([OUT] * len(sources))

    answered = statuses(at_once(len(sources), lambda number: charged(live, source=sources[number])))

    assert answered.keys() <= {201, 503}
    assert len({payment.reference for payment in north.asked}) == len(north.asked) == answered[201] >= 1
    assert charged(live).status_code == 503


def test_outages_of_long_ago_are_forgotten(live: Api, north: Psp, route: Route) -> None:
    with clock.at(clock.now() - RECENT - timedelta(seconds=1)):
        wear_out(live, north)
    [seen] = Route.objects.annotate(recent=recent_attempts())

    assert health_of(seen.recent).asked == 0


def test_the_score_is_the_share_without_an_outage(live: Api, north: Psp, route: Route) -> None:
    wear_out(live, north, times=1)
    for _ in range(3):
        made(charged(live))
    [seen] = Route.objects.annotate(recent=recent_attempts())

    assert health_of(seen.recent).score == 0.75


Seconds = st.none() | st.integers(0, 120)


@given(st.lists(Seconds, max_size=SAMPLE), st.booleans())
def test_a_route_is_open_exactly_while_the_newest_are_outages_and_young(
    outages: list[int | None], is_probed: bool
) -> None:
    now = clock.now()
    moments = [None if ago is None else now - timedelta(seconds=ago) for ago in outages]
    recent: list[dict[str, Any]] = [
        {"state": "done", "outage_at": moment and moment.isoformat(), "due_at": None} for moment in moments
    ]
    if is_probed:
        due = (now + timedelta(seconds=30)).isoformat()
        recent.insert(0, {"state": "open", "outage_at": None, "due_at": due})
    newest = outages[:OUTAGES_IN_A_ROW]
    are_outages = len(newest) == OUTAGES_IN_A_ROW and None not in newest
    is_young = are_outages and min(ago for ago in newest if ago is not None) < OPEN_FOR.total_seconds()

    assert (health_of(recent).open_seconds > 0) == (is_young or (are_outages and is_probed))
