"""What nobody recorded is found out from the provider, never guessed."""

import dataclasses
import os
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from payments import clock
from payments.domain import expiry, recovery
from payments.domain.attempts import payment_of
from payments.domain.recording import reload
from payments.ids import parse_id
from payments.models import Attempt, Card, Charge, Event, IdempotencyRecord
from payments.providers.base import Approved, Declined, Payment, Report
from payments.providers.simulator.connector import Simulator
from payments.providers.simulator.models import SimulatedOperation, SimulatedPayment
from payments.tasks import hear_simulator
from tests.client import ANSWER_LOST, CHALLENGED, NEVER_ARRIVES, REFUNDS_FAIL, REFUNDS_WAIT, Api, error_of, made
from tests.domain.doubles import CutsTheDatabase, DiesAfter, DiesBefore, LosesAnswers, NeverHears, Unreachable, provider


def let_time_pass(model: Any, field: str) -> None:
    """Makes everything that waits for `field` due."""
    model.objects.filter(**{f"{field}__isnull": False}).update(**{field: clock.now() - timedelta(seconds=1)})


def said_by(command: str) -> str:
    """What a command prints."""
    out = StringIO()
    call_command(command, stdout=out)
    return out.getvalue().strip()


def recover() -> None:
    let_time_pass(Attempt, "due_at")
    recovery.resolve_due()


def test_an_approval_whose_answer_was_lost_is_pending_first_and_found_later(api: Api) -> None:
    charge = api.charge(ANSWER_LOST)
    assert (charge["status"], "action" in charge) == ("pending", False)

    let_time_pass(Attempt, "due_at")
    assert said_by("recover_attempts") == "Looked up 1; 0 still without an outcome."

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
def test_an_operation_whose_answer_was_lost_answers_with_the_charge_as_known_and_is_found(
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


def test_the_next_operation_first_finds_out_what_became_of_the_last_one(api: Api) -> None:
    charge = api.held()
    with provider(LosesAnswers()):
        api.post(f"/charges/{charge['id']}/capture", {"amount": 4000})

    after = made(api.post(f"/charges/{charge['id']}/refund", {"amount": 1000}))

    assert (after["amount_captured"], after["amount_refunded"]) == (4000, 1000)


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
    ("double", "status"), [(DiesBefore(), "failed"), (DiesAfter(), "succeeded")], ids=["before", "after"]
)
def test_a_process_killed_around_the_provider_call_is_finished_and_then_replayed(
    api: Api, double: Simulator, status: str
) -> None:
    body = {"amount": 100, "currency": "PHP", "source": api.source(), "description": "Interrupted"}
    connection.close()
    child = os.fork()
    if child == 0:
        with provider(double):
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


def test_an_expired_action_fails_the_charge_and_ends_the_payment_at_the_provider(api: Api) -> None:
    charge = api.charge(CHALLENGED)
    let_time_pass(Charge, "action_expires_at")
    let_time_pass(Attempt, "due_at")

    assert said_by("expire") == "Released 0 holds, ended 1 actions, destroyed 0 CVCs."

    failed = api.read(charge)
    assert (failed["status"], failed["failure_data"]["code"]) == ("failed", "action_expired")
    assert "action" not in failed
    assert SimulatedPayment.objects.get().state == "cancelled"


def test_an_expired_hold_is_released_at_the_provider(api: Api) -> None:
    charge = api.held()
    assert expiry.void_expired_holds() == 0
    let_time_pass(Charge, "hold_expires_at")

    assert expiry.void_expired_holds() == 1

    after = api.read(charge)
    assert (after["status"], after["authorized"]) == ("voided", False)
    assert SimulatedPayment.objects.get().state == "voided"


def test_money_that_comes_after_the_charge_failed_is_reversed_and_shown(api: Api) -> None:
    charge = api.charge(NEVER_ARRIVES)
    attempt = reload(Attempt.objects.get())
    late = payment_of(attempt)
    recover()
    # The request was only delayed: it reaches the provider after all, which tells of it twice.
    arrived = Simulator().create_payment(_with_good_card(late))
    assert isinstance(arrived, Approved)

    for _ in range(2):
        recovery.apply_report(Report(attempt.reference, arrived))
    recover()

    after = api.read(charge)
    assert after["status"] == "failed"
    assert Charge.objects.get().reversed_late
    assert SimulatedPayment.objects.get().state == "voided"
    assert Attempt.objects.get(kind="reverse").state == "done"


def _with_good_card(payment: Payment) -> Payment:
    assert payment.card is not None
    card = dataclasses.replace(payment.card, number="4000000000003055")
    return dataclasses.replace(payment, card=card, authenticate=False)


def test_a_refund_that_fails_afterwards_gives_its_amount_back(api: Api) -> None:
    charge = api.charge(REFUNDS_FAIL)
    refunded = made(api.post(f"/charges/{charge['id']}/refund"))
    assert (refunded["status"], refunded["refunds"][0]["status"]) == ("refunded", "succeeded")

    _settle_refunds()

    after = api.read(charge)
    assert (after["status"], after["amount_refunded"]) == ("succeeded", 0)
    assert after["refunds"][0]["status"] == "failed"


def test_a_refund_that_stays_pending_succeeds_later(api: Api) -> None:
    charge = api.charge(REFUNDS_WAIT)
    waiting = made(api.post(f"/charges/{charge['id']}/refund", {"amount": 4000}))
    assert (waiting["refunds"][0]["status"], waiting["amount_refunded"]) == ("pending", 4000)

    _settle_refunds()

    after = api.read(charge)
    assert (after["refunds"][0]["status"], after["amount_refunded"]) == ("succeeded", 4000)


def _settle_refunds() -> None:
    let_time_pass(SimulatedOperation, "settles_at")
    hear_simulator()


def test_a_repeated_report_changes_nothing(api: Api) -> None:
    charge = api.charge(REFUNDS_FAIL)
    api.post(f"/charges/{charge['id']}/refund")
    _settle_refunds()
    before, events = api.read(charge), Event.objects.count()
    reference = Attempt.objects.get(kind="refund").reference

    for outcome in (Declined("processing_error"), Approved("so_1")):
        recovery.apply_report(Report(reference, outcome))

    assert api.read(charge) == before
    assert Event.objects.count() == events


def test_a_report_of_an_unknown_reference_is_ignored(db: None) -> None:
    recovery.apply_report(Report("0" * 32, Approved("sp_1")))
    assert not Event.objects.exists()


def test_the_cvc_and_the_number_of_a_single_use_card_are_destroyed_with_the_outcome(api: Api) -> None:
    source = api.source()
    assert Card.objects.get().sealed_cvc is not None

    api.charge_source(source)

    card = Card.objects.get()
    assert (card.sealed_cvc, card.sealed_number, card.cvc_expires_at) == (None, None, None)


def test_the_cvc_is_kept_while_the_outcome_is_unknown(api: Api) -> None:
    api.charge(ANSWER_LOST)
    assert Card.objects.get().sealed_cvc is not None

    recover()

    assert Card.objects.get().sealed_cvc is None


def test_an_unused_cvc_is_destroyed_after_an_hour(api: Api) -> None:
    source = api.source()
    assert expiry.destroy_unused_cvcs() == 0
    let_time_pass(Card, "cvc_expires_at")

    assert expiry.destroy_unused_cvcs() == 1

    card = Card.objects.get(source_id=parse_id("src", source))
    assert card.sealed_cvc is None
    assert card.sealed_number is not None


def test_only_answered_keys_that_are_old_are_purged(api: Api) -> None:
    api.post("/sources/", {"type": "gcash"}, key="old")
    api.post("/sources/", {"type": "gcash"}, key="new")
    IdempotencyRecord.objects.filter(key="old").update(created_at=clock.now() - timedelta(days=31))

    assert said_by("purge_idempotency") == "Deleted 1 keys older than 30 days."
    assert list(IdempotencyRecord.objects.values_list("key", flat=True)) == ["new"]


def test_an_attempt_at_a_provider_that_is_gone_keeps_nobody_from_the_others(api: Api) -> None:
    stuck, found = api.charge(ANSWER_LOST), api.charge(ANSWER_LOST)
    Attempt.objects.filter(charge_id=parse_id("ch", stuck["id"])).update(provider="uninstalled")

    recover()

    assert api.read(stuck)["status"] == "pending"
    assert api.read(found)["status"] == "succeeded"
