"""Time that was made to pass: who may ask for it and how, what a merchant sees of it, and `manage.py advance_clock`."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError
from pytest_django import Settings

from payments.domain.merchants.merchants import NewMerchant
from payments.ids import parse_id
from payments.models import Attempt, Card, Charge, IdempotencyRecord
from payments.providers.simulator.models import SimulatedPayment
from tests.charging.elapsed_time import arrive_late
from tests.client import ANSWER_LOST, CHALLENGED, NEVER_ARRIVES, REFUNDS_FAIL, REFUNDS_WAIT, Api, error_of, made
from tests.clock.cast import DAY, HOUR, WEEK, let_pass
from tests.commands.conftest import Manage, manage
from tests.contract.calls import faults_of


def refund_of(api: Api, charge: dict[str, Any]) -> str:
    """How the one refund of a charge stands."""
    [refund] = api.read(charge)["refunds"]
    return refund["status"]


def test_the_answer_says_how_much_time_has_passed(api: Api) -> None:
    assert let_pass(api, DAY) == {"object": "clock", "livemode": False, "advanced_seconds": 86_400}


def test_a_hold_is_released_when_its_days_are_over_and_not_before(api: Api) -> None:
    charge = api.held()

    let_pass(api, WEEK - HOUR)
    assert api.read(charge)["authorized"] is True

    let_pass(api, HOUR)
    after = api.read(charge)
    assert (after["status"], after["authorized"]) == ("voided", False)
    assert SimulatedPayment.objects.get().state == "voided"


def test_a_payer_who_did_not_act_within_the_hour_finds_that_time_is_over(api: Api) -> None:
    charge = api.charge(CHALLENGED)
    page = charge["action"]["url"].partition("/simulator/")[2]

    let_pass(api, HOUR)

    failed = api.read(charge)
    assert (failed["status"], failed["failure_data"]["code"]) == ("failed", "action_expired")
    assert api.client.get(f"/simulator/{page}").status_code == 410


def test_part_of_the_hour_leaves_the_rest_of_it(api: Api) -> None:
    charge = api.charge(CHALLENGED)
    page = charge["action"]["url"].partition("/simulator/")[2]

    let_pass(api, HOUR / 2)
    assert api.read(charge)["status"] == "pending"
    assert api.client.get(f"/simulator/{page}").status_code == 200

    let_pass(api, HOUR / 2)
    assert api.read(charge)["status"] == "failed"


def test_a_payer_who_came_back_undecided_has_no_more_time_than_before(api: Api) -> None:
    charge = api.charge(CHALLENGED)
    let_pass(api, HOUR / 2)
    path = "/return/" + SimulatedPayment.objects.get().return_url.rpartition("/")[2]
    assert api.client.get(path).status_code == 200
    assert api.read(charge)["status"] == "pending"

    [(attempt_due_at, expires_at)] = Attempt.objects.values_list("due_at", "charge__action_expires_at")

    assert attempt_due_at == expires_at


@pytest.mark.parametrize(
    ("number", "status"), [(ANSWER_LOST, "succeeded"), (NEVER_ARRIVES, "failed")], ids=["answer", "request"]
)
def test_what_was_lost_is_found_by_the_next_lookup(api: Api, number: str, status: str) -> None:
    charge = api.charge(number)
    assert charge["status"] == "pending"

    let_pass(api, timedelta(seconds=5))

    assert api.read(charge)["status"] == status


@pytest.mark.long
def test_money_that_came_after_its_charge_was_given_up_is_sent_back(api: Api) -> None:
    api.charge(NEVER_ARRIVES)
    let_pass(api, timedelta(seconds=5))
    arrive_late(Attempt.objects.get())

    let_pass(api, timedelta(minutes=9))
    assert SimulatedPayment.objects.get().state == "captured"

    let_pass(api, timedelta(minutes=1))
    assert SimulatedPayment.objects.get().state == "voided"


@pytest.mark.long
@pytest.mark.parametrize(("number", "status"), [(REFUNDS_FAIL, "failed"), (REFUNDS_WAIT, "succeeded")])
def test_a_refund_that_ends_later_has_ended(api: Api, number: str, status: str) -> None:
    charge = api.charge(number)
    made(api.post(f"/charges/{charge['id']}/refund"))
    assert refund_of(api, charge) != status

    let_pass(api, timedelta(seconds=60))

    assert refund_of(api, charge) == status


def test_captured_money_is_settled_when_the_day_is_over(api: Api) -> None:
    api.charge()

    let_pass(api, DAY)

    charge = Charge.objects.get()
    assert (charge.settle_due_at, charge.settled_at is not None) == (None, True)


def test_a_cvc_that_nothing_used_is_destroyed(api: Api) -> None:
    source = api.source()

    let_pass(api, HOUR)

    assert Card.objects.get(source_id=parse_id("src", source)).sealed_cvc is None


def test_several_deadlines_are_passed_at_once(api: Api) -> None:
    held, taken, asked, lost = api.held(), api.charge(), api.charge(CHALLENGED), api.charge(ANSWER_LOST)

    let_pass(api, 30 * DAY)

    assert [api.read(charge)["status"] for charge in (held, taken, asked, lost)] == [
        "voided",
        "succeeded",
        "failed",
        "succeeded",
    ]
    assert not Attempt.objects.exclude(state="done").exists()


@pytest.mark.long
def test_what_begins_when_time_has_passed_waits_for_a_time_of_its_own(api: Api) -> None:
    lost = api.charge(ANSWER_LOST, capture=False)

    let_pass(api, 30 * DAY)
    assert api.read(lost)["authorized"] is True

    let_pass(api, WEEK)
    assert api.read(lost)["status"] == "voided"


def test_a_hold_that_was_captured_in_time_stays_captured(api: Api) -> None:
    charge = api.held()
    let_pass(api, WEEK - HOUR)
    made(api.post(f"/charges/{charge['id']}/capture"))

    let_pass(api, WEEK)

    assert api.read(charge)["captured"] is True


PATH = "/test/clock"
A_DAY = {"advance_seconds": 86_400}


def refusal(api: Api, path: str, method: str = "POST") -> dict[str, Any]:
    """Return the error of a 404, without the request's ID."""
    response = api.send(method, path, A_DAY, {})
    assert response.status_code == 404
    error = error_of(response)
    del error["request_id"]
    return error


@pytest.mark.parametrize("key", ["sk_live", "pk_live"])
def test_in_live_mode_there_is_no_clock_and_the_answer_says_so(shop: NewMerchant, key: str) -> None:
    error = refusal(Api(shop.keys[key]), PATH)
    assert (error["code"], "Use a test key" in error["message"]) == ("resource_missing", True)


@pytest.mark.parametrize("key", ["sk_test", "sk_live", "pk_test", "nobody's"])
@pytest.mark.parametrize("method", ["POST", "GET"])
def test_where_the_clock_is_off_there_is_nothing_at_this_path(
    shop: NewMerchant, settings: Settings, key: str, method: str
) -> None:
    settings.KAHA_CLOCK = False
    api = Api(shop.keys.get(key, key))
    assert refusal(api, PATH, method) == refusal(api, "/test/nothing", method)


@pytest.mark.parametrize("seconds", [0, -1, 31_622_401, True, "86400", 1.0, None])
def test_how_much_time_is_an_integer_from_a_second_to_a_year(api: Api, seconds: object) -> None:
    assert set(faults_of(api.post(PATH, {"advance_seconds": seconds}))) == {"advance_seconds"}


@pytest.mark.parametrize("seconds", [1, 31_622_400])
def test_a_second_and_a_year_are_within_bounds(api: Api, seconds: int) -> None:
    assert made(api.post(PATH, {"advance_seconds": seconds}))["advanced_seconds"] == seconds


def test_a_repeat_under_the_same_key_does_not_let_time_pass_twice(api: Api) -> None:
    held = api.held()
    body = {"advance_seconds": int((WEEK - DAY).total_seconds())}

    first, second = (api.post(PATH, body, key="six days") for _ in range(2))

    assert second["Idempotent-Replayed"] == "true"
    assert first.content == second.content
    assert api.read(held)["authorized"] is True


def test_a_refused_request_lets_no_time_pass(api: Api) -> None:
    api.held()
    expires_at = Charge.objects.get().hold_expires_at

    assert api.post(PATH, {"advance_seconds": 1, "merchant": "mer_1"}, key="mistyped").status_code == 422

    assert Charge.objects.get().hold_expires_at == expires_at
    assert not IdempotencyRecord.objects.filter(key="mistyped").exists()


def test_keys_and_the_answers_of_other_requests_are_as_old_as_they_were(api: Api) -> None:
    held = api.held()
    captured = api.post(f"/charges/{held['id']}/capture", key="capture it")

    made(api.post(PATH, {"advance_seconds": 31_622_400}))

    again = api.post(f"/charges/{held['id']}/capture", key="capture it")
    assert (again["Idempotent-Replayed"], again.content) == ("true", captured.content)


__all__ = ["manage"]


def announced(output: str) -> dict[str, int]:
    """Return the counts that the command printed."""
    return {line.rpartition("  ")[0].strip(): int(line.split()[-1]) for line in output.strip().splitlines()}


def test_it_says_what_has_happened(manage: Manage, api: Api) -> None:
    hook = {"success": "https://shop.example/", "fail": "https://shop.example/", "notify": "https://shop.example/hook"}
    api.held()
    api.charge_source(api.source(redirect=hook))
    api.charge(CHALLENGED)
    api.charge(ANSWER_LOST)

    assert announced(manage("advance_clock", "Sari Store", "7d")) == {
        "holds released": 1,
        "actions expired": 1,
        "attempts resolved": 1,
        "events of the provider": 1,
        "charges settled": 1,
        "CVCs destroyed": 0,
        "card numbers destroyed": 0,
        "operators' requests expired": 0,
        "webhooks due": 2,
    }


@pytest.mark.long
@pytest.mark.parametrize("by", ["604800", "168h", "7d"])
def test_time_is_given_in_seconds_or_with_a_unit(manage: Manage, api: Api, by: str) -> None:
    api.held()
    assert announced(manage("advance_clock", "Sari Store", by))["holds released"] == 1


@pytest.mark.parametrize("arguments", [["Nobody", "1"], *(["Sari Store", by] for by in ("0", "367d", "1w", "9" * 40))])
def test_what_cannot_be_read_lets_no_time_pass(manage: Manage, shop: NewMerchant, arguments: list[str]) -> None:
    with pytest.raises(CommandError):
        manage("advance_clock", *arguments)


def test_where_the_clock_is_off_time_passes_by_itself(manage: Manage, shop: NewMerchant, settings: Settings) -> None:
    settings.KAHA_CLOCK = False
    with pytest.raises(CommandError, match="KAHA_CLOCK"):
        manage("advance_clock", "Sari Store", "1d")
