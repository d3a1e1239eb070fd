"""Time that passes while somebody does something: one thing happens or the other, and the books are equal."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest

from payments import failpoints
from payments.failpoints import Failpoint
from payments.invariants import checks
from payments.invariants.registry import INVARIANTS
from payments.models import Attempt, Charge
from tests.client import CHALLENGED, REFUNDS_FAIL, REFUNDS_WAIT, Api, error_of, made
from tests.clock.cast import DAY, HOUR, WEEK, let_pass
from tests.concurrency import at_once, statuses

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]
TURNS = range(4)
UNDER_WAY = [Failpoint.OPENED, Failpoint.ASKING, Failpoint.ANSWERED, Failpoint.RECORDING]


@pytest.fixture(autouse=True)
def _nobody_listens_afterwards() -> Iterator[None]:
    yield
    failpoints.listen(None)


def at_the_step(step: Failpoint, do: Callable[[], object]) -> None:
    """Has `do` run once, when this process comes to `step`."""

    def listener(reached: Failpoint) -> None:
        if reached is step:
            failpoints.listen(None)
            do()

    failpoints.listen(listener)


def check_money() -> None:
    assert checks.run(INVARIANTS).failures == []


def race(api: Api, by: timedelta, do: Callable[[Api], Any]) -> Any:
    """Return what `do` returns while `by` passes."""
    act = [lambda: do(Api(api.key)), lambda: let_pass(Api(api.key), by)]
    return at_once(2, lambda number: act[number]())[0]


@pytest.mark.parametrize("turn", TURNS)
def test_of_capture_and_the_end_of_the_hold_one_wins(api: Api, turn: int) -> None:
    charge = api.held()

    response = race(api, WEEK, lambda mine: mine.post(f"/charges/{charge['id']}/capture"))

    after = api.read(charge)
    assert (response.status_code, after["status"], after["captured"]) in [
        (200, "succeeded", True),
        (409, "voided", False),
    ]
    assert not Attempt.objects.exclude(state="done").exists()
    check_money()


@pytest.mark.parametrize("step", UNDER_WAY)
def test_a_capture_under_way_is_not_overtaken_by_the_end_of_the_hold(api: Api, step: Failpoint) -> None:
    charge = api.held()
    at_the_step(step, lambda: let_pass(Api(api.key), 366 * DAY))

    response = api.post(f"/charges/{charge['id']}/capture")

    assert (response.status_code, api.read(charge)["captured"]) == (200, True)
    assert [attempt.kind for attempt in Attempt.objects.order_by("id")] == ["authorize", "capture"]
    check_money()


def test_a_hold_that_is_captured_as_it_is_being_released_stays_captured(api: Api) -> None:
    charge = api.held()
    at_the_step(Failpoint.OPENING, lambda: made(Api(api.key).post(f"/charges/{charge['id']}/capture")))

    let_pass(api, WEEK)

    after = api.read(charge)
    assert (after["status"], after["captured"]) == ("succeeded", True)
    check_money()


def test_a_capture_that_comes_after_the_end_of_the_hold_is_refused(api: Api) -> None:
    charge = api.held()
    at_the_step(Failpoint.OPENING, lambda: let_pass(Api(api.key), WEEK))

    response = api.post(f"/charges/{charge['id']}/capture")

    assert (response.status_code, error_of(response)["code"]) == (409, "charge_not_capturable")
    assert api.read(charge)["status"] == "voided"
    check_money()


@pytest.mark.parametrize("step", UNDER_WAY)
@pytest.mark.parametrize("number", [REFUNDS_WAIT, REFUNDS_FAIL])
def test_the_end_of_the_day_leaves_a_refund_under_way_to_its_own_end(api: Api, number: str, step: Failpoint) -> None:
    charge = api.charge(number)
    at_the_step(step, lambda: let_pass(Api(api.key), DAY))
    assert api.post(f"/charges/{charge['id']}/refund").status_code == 200

    for _ in range(2):
        let_pass(api, DAY)

    row = Charge.objects.get()
    assert (row.operation, row.settle_due_at, row.settled_at is not None) == ("", None, True)
    assert api.read(charge)["refunds"][0]["status"] == ("succeeded" if number == REFUNDS_WAIT else "failed")
    check_money()


@pytest.mark.parametrize("turn", TURNS)
def test_a_payer_who_agrees_as_time_runs_out_has_paid_or_has_not(api: Api, turn: int) -> None:
    charge = api.charge(CHALLENGED)
    page = urlsplit(charge["action"]["url"]).path

    race(api, HOUR, lambda mine: mine.client.post(page, {"decision": "pay"}))
    let_pass(api, HOUR)

    assert api.read(charge)["status"] in ("succeeded", "failed")
    assert not Attempt.objects.exclude(state="done").exists()
    check_money()


def test_time_that_passes_eight_times_at_once_passes_eight_times(api: Api) -> None:
    for _ in range(10):
        api.held()
        api.charge(CHALLENGED)
    before = list(Charge.objects.filter(authorized=True).order_by("id").values_list("hold_expires_at", flat=True))

    at_once(8, lambda _: let_pass(Api(api.key), HOUR))

    after = Charge.objects.filter(authorized=True).order_by("id").values_list("hold_expires_at", flat=True)
    assert [moment + 8 * HOUR for moment in after] == before


def test_the_same_key_ten_times_at_once_lets_time_pass_once(api: Api) -> None:
    api.held()
    [before] = Charge.objects.values_list("hold_expires_at", flat=True)

    responses = at_once(10, lambda _: Api(api.key).post("/test/clock", {"advance_seconds": 3600}, key="an hour"))

    assert statuses(responses) == {200: 10}
    assert len({response.content for response in responses}) == 1
    assert Charge.objects.get().hold_expires_at == before - HOUR


def test_whatever_else_is_done_meanwhile_nobody_waits_for_anybody_for_ever(api: Api) -> None:
    charges = [api.held() for _ in range(6)]
    verbs = ["capture", "void", "capture"]

    def act(number: int) -> int:
        mine = Api(api.key)
        if number % 2:
            return int(let_pass(mine, HOUR)["advanced_seconds"])
        return int(mine.post(f"/charges/{charges[number // 2]['id']}/{verbs[number % 3]}").status_code)

    assert set(at_once(12, act)) == {200, 3600}
    assert not Attempt.objects.exclude(state="done").exists()
    check_money()
