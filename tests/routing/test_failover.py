"""Failover tries the next route only where the one before certainly moved no money."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from payments.domain.merchants.merchants import NewMerchant
from payments.invariants import checks
from payments.invariants.registry import INVARIANTS
from payments.models import Attempt, Charge, Event, Route
from payments.providers.base import Declined, NotSent, Outcome, Payment, Pending, Rejected, Unknown
from payments.providers.simulator.models import SimulatedPayment
from tests.charging.elapsed_time import recover
from tests.client import Api, made
from tests.routing.doubles import Psp, account_at, installed, route_to

pytestmark = pytest.mark.django_db

UNREACHABLE = NotSent("ConnectionRefusedError")
OUT_OF_ORDER = Declined("processing_error", provider_code="acquirer_error", retryable=True)
DECLINED = Declined("insufficient_funds", provider_code="51")
FINAL = [DECLINED, Unknown("timed out"), Rejected("invalid_request"), Pending("pm_1")]


@pytest.fixture
def routes(north: Psp, south: Psp, shop: NewMerchant) -> list[Route]:
    """North first, then south."""
    return [route_to(account_at(psp, shop.merchant), position=place) for place, psp in enumerate((north, south))]


def recorded() -> list[tuple[str, str, bool]]:
    return list(Attempt.objects.order_by("id").values_list("provider", "outcome", "passed_on"))


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("outcome", [UNREACHABLE, OUT_OF_ORDER], ids=["not sent", "the provider's own fault"])
def test_where_nothing_was_moved_the_next_is_asked(
    live: Api, north: Psp, routes: list[Route], outcome: Outcome
) -> None:
    north.answers.append(outcome)

    assert live.charge()["status"] == "succeeded"
    assert recorded() == [("north", type(outcome).__name__, True), ("south", "Approved", False)]
    assert SimulatedPayment.objects.count() == 1
    assert checks.run(INVARIANTS).failures == []


@pytest.mark.parametrize("outcome", FINAL, ids=lambda outcome: type(outcome).__name__)
def test_where_something_may_have_been_moved_nobody_else_is_asked(
    live: Api, north: Psp, south: Psp, routes: list[Route], outcome: Outcome
) -> None:
    north.answers.append(outcome)
    live.charge()

    assert south.asked == []
    assert Attempt.objects.get().provider == "north"


def test_each_attempt_says_why_its_route_was_taken(live: Api, north: Psp, routes: list[Route]) -> None:
    north.answers.append(UNREACHABLE)
    live.charge()

    first, second = Attempt.objects.order_by("id")
    assert [first.route, second.route] == routes
    assert first.chosen == "the first of 2 routes that take it"
    assert second.chosen == "after north, which could not be reached"


def test_an_outage_is_put_down_and_a_decline_is_none(live: Api, north: Psp, routes: list[Route]) -> None:
    north.answers.extend([UNREACHABLE, OUT_OF_ORDER, DECLINED, Unknown("timed out")])
    for _ in range(4):
        live.charge()

    by_north = Attempt.objects.filter(provider="north").order_by("id")
    assert [attempt.outage_at is not None for attempt in by_north] == [True, False, False, True]


def test_each_attempt_has_a_reference_and_a_return_address_of_its_own(
    live: Api, north: Psp, south: Psp, routes: list[Route]
) -> None:
    north.answers.append(UNREACHABLE)
    live.charge()

    [first], [second] = north.asked, south.asked
    assert first.reference != second.reference
    assert first.return_url != second.return_url
    assert (second.amount, second.card, second.description) == (first.amount, first.card, first.description)
    assert second.card is not None
    assert second.card.cvc == "123"


@pytest.mark.django_db(transaction=True)
def test_no_route_is_asked_twice(live: Api, north: Psp, south: Psp, routes: list[Route]) -> None:
    north.answers.append(UNREACHABLE)
    south.answers.append(UNREACHABLE)
    charge = live.charge()

    assert (charge["status"], charge["failure_data"]["code"]) == ("failed", "provider_unavailable")
    assert recorded() == [("north", "NotSent", True), ("south", "NotSent", False)]
    assert checks.run(INVARIANTS).failures == []


def test_merchants_see_one_charge(live: Api, north: Psp, routes: list[Route]) -> None:
    north.answers.append(OUT_OF_ORDER)
    live.charge()

    assert list(Event.objects.filter(type__startswith="charge.").order_by("id").values_list("type", flat=True)) == [
        "charge.created",
        "charge.succeeded",
    ]


def test_the_request_sent_again_is_answered_the_same(live: Api, north: Psp, south: Psp, routes: list[Route]) -> None:
    north.answers.append(UNREACHABLE)
    body = {"currency": "PHP", "amount": 5_000, "source": live.source(), "description": "Halo-halo"}
    first, again = (live.post("/charges/", body, key="once") for _ in range(2))

    assert first.status_code == 201
    assert first.content == again.content
    assert len(north.asked) == len(south.asked) == 1


def test_who_comes_back_to_the_second_route_is_known(live: Api, north: Psp, shop: NewMerchant, south: Psp) -> None:
    for place, psp in enumerate((north, south)):
        route_to(account_at(psp, shop.merchant), "gcash", position=place)
    north.answers.append(UNREACHABLE)
    charge = live.charge_source(live.wallet())

    assert charge["action"]["type"] == "redirect_to_url"
    [payment] = south.asked
    returned = live.client.get(payment.return_url.removeprefix("http://127.0.0.1:8000"))
    assert returned.status_code in (200, 302)
    assert live.read(charge)["status"] == "pending"


class Stalls(Psp):
    """Lets so much time pass before it refuses the connection that recovery has looked the attempt up."""

    def create_payment(self, payment: Payment) -> Outcome:
        recover()
        return UNREACHABLE


@pytest.mark.django_db(transaction=True)
def test_who_was_overtaken_by_recovery_passes_nothing_on(live: Api, south: Psp, shop: NewMerchant) -> None:
    with installed(Stalls("north")) as north:
        for place, psp in enumerate((north, south)):
            route_to(account_at(psp, shop.merchant), position=place)
        charge = live.charge()

    assert charge["status"] == "failed"
    assert south.asked == []
    assert recorded() == [("north", "NotFound", False)]


OUTCOMES = [None, UNREACHABLE, OUT_OF_ORDER, *FINAL]


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
@given(answers=st.tuples(*[st.sampled_from(OUTCOMES)] * 2))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_whatever_they_answer_one_at_most_takes_the_money(
    live: Api, north: Psp, south: Psp, routes: list[Route], answers: tuple[Outcome | None, ...]
) -> None:
    # The outages of the examples before would have their routes rest.
    Attempt.objects.update(outage_at=None)
    psps = [north, south]
    for psp, answer in zip(psps, answers, strict=True):
        psp.asked.clear()
        psp.answers.clear()
        psp.answers.extend([answer] if answer else [])
    charge = made(live.post("/charges/", _order(live)))

    decided = next((place for place, answer in enumerate(answers) if answer not in (UNREACHABLE, OUT_OF_ORDER)), 1)
    assert [len(psp.asked) for psp in psps] == [1, int(decided == 1)]
    assert (charge["status"] == "succeeded") == (answers[decided] is None)
    assert Attempt.objects.filter(charge=_last(), passed_on=False).count() == 1
    assert checks.run(INVARIANTS).failures == []


def _order(live: Api) -> dict[str, Any]:
    return {"currency": "PHP", "amount": 5_000, "source": live.source(), "description": "Halo-halo"}


def _last() -> Charge:
    return Charge.objects.order_by("id").last()
