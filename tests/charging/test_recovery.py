"""What nobody recorded is found out from the provider, never guessed."""

import os
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from payments import clock
from payments.domain.charging import recovery
from payments.domain.due_rows import LOOKUP_DELAYS_SECONDS, next_lookup_at
from payments.ids import parse_id
from payments.models import Attempt, Charge
from payments.providers.base import Outcome
from payments.providers.simulator.connector import Simulator
from payments.providers.simulator.models import SimulatedPayment
from tests.charging.doubles import (
    CutsTheDatabase,
    Do,
    Double,
    KnowsNothing,
    LosesAnswers,
    NeverHears,
    Unreachable,
    dies_after,
    dies_before,
    lost,
    provider,
)
from tests.charging.elapsed_time import recover
from tests.client import ANSWER_LOST, CHALLENGED, NEVER_ARRIVES, Api, error_of, made


def test_an_approval_whose_answer_was_lost_is_pending_first_and_found_later(api: Api) -> None:
    charge = api.charge(ANSWER_LOST)
    assert (charge["status"], "action" in charge) == ("pending", False)

    recover()
    assert recovery.unresolved() == 0

    found = api.read(charge)
    assert (found["status"], found["captured"], found["amount_captured"]) == ("succeeded", True, charge["amount"])


def test_a_request_that_never_arrived_fails_only_when_the_provider_says_so(api: Api) -> None:
    charge = api.charge(NEVER_ARRIVES)
    assert charge["status"] == "pending"

    recover()

    failed = api.read(charge)
    assert (failed["status"], failed["failure_data"]["code"]) == ("failed", "processing_error")


def test_an_attempt_that_is_not_due_is_left_alone(api: Api) -> None:
    charge = api.charge(ANSWER_LOST)

    assert recovery.resolve_due() == 0
    assert api.read(charge)["status"] == "pending"


def test_a_lookup_that_cannot_be_made_decides_nothing(api: Api) -> None:
    charge = api.charge(NEVER_ARRIVES)

    with provider(Unreachable()):
        recover()

    assert api.read(charge)["status"] == "pending"
    assert Attempt.objects.get().due_at > clock.now()


def test_a_payment_that_could_not_be_sent_fails_at_once(api: Api) -> None:
    with provider(Unreachable()):
        charge = api.charge()

    assert (charge["status"], charge["failure_data"]["code"]) == ("failed", "provider_unavailable")
    assert not SimulatedPayment.objects.exists()


def test_an_operation_that_could_not_be_sent_is_refused_and_its_key_stays_free(api: Api) -> None:
    charge = api.held()
    path = f"/charges/{charge['id']}/capture"
    with provider(Unreachable()):
        refused = api.post(path, key="capture-it")
    assert (refused.status_code, error_of(refused)["code"]) == (503, "provider_unavailable")

    assert made(api.post(path, key="capture-it"))["captured"] is True


@pytest.mark.parametrize(("verb", "status"), [("capture", "succeeded"), ("void", "voided"), ("refund", "refunded")])
def test_an_operation_whose_answer_was_lost_answers_with_the_charge_as_recorded_and_is_found(
    api: Api, verb: str, status: str
) -> None:
    charge = api.charge() if verb == "refund" else api.held()
    with provider(LosesAnswers()):
        response = api.post(f"/charges/{charge['id']}/{verb}")
    assert response.status_code == 200
    if verb != "refund":
        assert made(response) == charge

    recover()

    assert api.read(charge)["status"] == status
    assert Attempt.objects.filter(state="done").count() == Attempt.objects.count()


def test_a_refund_that_never_arrived_fails_and_gives_its_amount_back(api: Api) -> None:
    charge = api.charge()
    with provider(NeverHears()):
        pending = made(api.post(f"/charges/{charge['id']}/refund"))
    assert (pending["refunds"][0]["status"], pending["amount_refunded"]) == ("pending", charge["amount"])

    recover()

    after = api.read(charge)
    assert (after["refunds"][0]["status"], after["amount_refunded"]) == ("failed", 0)
    assert after["status"] == "succeeded"


def test_the_next_operation_first_finds_out_the_end_of_the_last_one(api: Api) -> None:
    charge = api.held()
    with provider(LosesAnswers()):
        api.post(f"/charges/{charge['id']}/capture", {"amount": 4000})

    after = made(api.post(f"/charges/{charge['id']}/refund", {"amount": 1000}))

    assert (after["amount_captured"], after["amount_refunded"]) == (4000, 1000)


def test_the_next_operation_is_done_where_the_last_one_never_arrived(api: Api) -> None:
    charge = api.held()
    with provider(NeverHears()):
        api.post(f"/charges/{charge['id']}/capture")

    assert made(api.post(f"/charges/{charge['id']}/void"))["status"] == "voided"


def test_the_next_operation_is_refused_while_the_last_one_stays_unknown(api: Api) -> None:
    charge = api.held()
    with provider(LosesAnswers()):
        api.post(f"/charges/{charge['id']}/capture")
    with provider(Unreachable()):
        response = api.post(f"/charges/{charge['id']}/void")

    assert (response.status_code, error_of(response)["code"]) == (409, "resource_busy")
    assert response["Retry-After"] == "1"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("dies", "status"), [(dies_before, "failed"), (dies_after, "succeeded")], ids=["before", "after"]
)
def test_a_process_killed_around_the_provider_call_is_finished_and_then_replayed(
    api: Api, dies: Callable[..., Any], status: str
) -> None:
    body = {"amount": 100, "currency": "PHP", "source": api.source(), "description": "Interrupted"}
    connection.close()
    child = os.fork()
    if child == 0:
        with provider(Double(create_payment=dies)):
            Api(api.key).post("/charges/", body, key="interrupted")
        os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    running = api.post("/charges/", body, key="interrupted")
    assert (running.status_code, error_of(running)["code"]) == (409, "idempotency_key_in_use")

    recover()

    replayed = api.post("/charges/", body, key="interrupted")
    assert replayed["Idempotent-Replayed"] == "true"
    assert replayed.status_code == 201
    assert made(replayed)["status"] == status
    assert Charge.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_database_that_goes_away_after_the_money_moved_answers_pending_and_never_an_error(api: Api) -> None:
    body = {"amount": 100, "currency": "PHP", "source": api.source(), "description": "Interrupted"}
    with provider(CutsTheDatabase()):
        response = api.post("/charges/", body)
    connection.close()
    assert response.status_code == 201
    assert made(response)["status"] == "pending"

    recover()

    assert api.read(made(response))["status"] == "succeeded"


def test_an_attempt_at_a_provider_that_is_gone_keeps_nobody_from_the_others(api: Api) -> None:
    stuck, found = api.charge(ANSWER_LOST), api.charge(ANSWER_LOST)
    Attempt.objects.filter(charge_id=parse_id("ch", stuck["id"])).update(provider="uninstalled")

    recover()

    assert api.read(stuck)["status"] == "pending"
    assert api.read(found)["status"] == "succeeded"


def test_the_lookups_of_a_payers_earlier_tries_put_off_none_of_the_next(api: Api) -> None:
    charge = api.charge_source(api.wallet("bpi"))
    Attempt.objects.update(tries=len(LOOKUP_DELAYS_SECONDS))
    pin = {"confirmation_id": charge["action"]["confirmation_id"], "otp": "123456"}

    with provider(Double(continue_payment=lost)):
        api.post(f"/charges/{charge['id']}/verify", pin)

    attempt = Attempt.objects.get()
    assert attempt.due_at
    assert (attempt.due_at - attempt.updated_at).total_seconds() < LOOKUP_DELAYS_SECONDS[1]


@pytest.mark.django_db(transaction=True)
def test_a_process_that_was_overtaken_answers_with_the_bytes_that_its_key_has_already(api: Api) -> None:
    body = {"amount": 100, "currency": "PHP", "source": api.source(CHALLENGED), "description": "Slow"}

    def be_overtaken(do: Do, asked: object) -> Outcome:
        outcome = do()
        recover()
        return outcome

    with provider(Double(create_payment=be_overtaken)):
        slow = api.post("/charges/", body, key="slow")

    again = api.post("/charges/", body, key="slow")
    assert (slow.status_code, slow.content) == (again.status_code, again.content)


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
