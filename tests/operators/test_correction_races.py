"""Concurrent approvers, proposers and lookups, and killed processes: a correction is recorded once, or stays open."""

import os
import signal

import pytest
from django.db import connection, transaction

from payments.domain.approvals import decide
from payments.domain.charging import recovery
from payments.domain.operators.four_eyes import Refused
from payments.embedded.processes import wait_until
from payments.models import Attempt, Charge, Correction, Event, UnknownOutcome
from payments.providers.simulator.models import SimulatedPayment
from tests.charging.doubles import Waits, provider
from tests.charging.elapsed_time import recover
from tests.client import Api
from tests.concurrency import at_once, locked
from tests.operators.corrections import NOTE, operator, proposed, unknown_payment

State = Correction.State


@pytest.mark.django_db(transaction=True)
def test_of_concurrent_approvers_one_succeeds(api: Api) -> None:
    correction = proposed(unknown_payment(api))
    approvers = [operator(f"ben{number}") for number in range(8)]

    def approve(number: int) -> str:
        try:
            decide.approve(Correction.objects.get(), approvers[number], NOTE)
        except Refused:
            return "refused"
        return "approved"

    assert sorted(at_once(8, approve)) == ["approved", *["refused"] * 7]
    assert Event.objects.filter(type="charge.succeeded").count() == 1
    correction.refresh_from_db()
    assert correction.decided_by in approvers


@pytest.mark.django_db(transaction=True)
def test_of_concurrent_proposals_one_is_open(api: Api) -> None:
    attempt = unknown_payment(api)
    people = [operator(f"ana{number}") for number in range(8)]

    def propose(number: int) -> bool:
        try:
            return bool(proposed(attempt, proposed_by=people[number]))
        except Refused:
            return False

    assert sum(at_once(8, propose)) == 1
    assert Correction.objects.count() == 1


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("lap", range(8))
def test_a_concurrent_approval_and_lookup_record_one_outcome(lap: int, api: Api) -> None:
    attempt = unknown_payment(api)
    correction, ben = proposed(attempt), operator("ben")

    def one_of_both(number: int) -> None:
        if number:
            recovery.resolve(attempt)
        else:
            decide.approve(correction, ben, NOTE)

    at_once(2, one_of_both)
    correction.refresh_from_db()
    won = correction.state == State.DONE
    assert won or correction.state == State.OVERTAKEN
    assert (Attempt.objects.get().provider_ref == "psp_77") == won
    assert Charge.objects.get().status == "succeeded"
    assert Event.objects.filter(type="charge.succeeded").count() == 1


@pytest.mark.django_db(transaction=True)
def test_money_found_by_a_lookup_that_was_under_way_at_the_approval_is_reversed(api: Api) -> None:
    attempt, slow, ben = unknown_payment(api), Waits("resolve"), operator("ben")
    correction = proposed(attempt, "declined")

    def lookup_and_approval(number: int) -> None:
        if number:
            recovery.resolve(attempt)
        else:
            slow.asked.wait(10)
            decide.approve(correction, ben, NOTE)
            slow.proceed.set()

    with provider(slow):
        at_once(2, lookup_and_approval)
    recover()
    charge = Charge.objects.get()
    assert (charge.status, charge.reversed_late, SimulatedPayment.objects.get().state) == ("failed", True, "voided")


@pytest.mark.django_db(transaction=True)
def test_an_approver_killed_between_decision_and_record_leaves_the_proposal_open(api: Api) -> None:
    correction, ben = proposed(unknown_payment(api)), operator("ben")
    connection.close()
    ready, may_continue = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(ready, 1)
        decide.approve(correction, ben, NOTE)
        os._exit(0)
    with transaction.atomic():
        # Nothing can be recorded without an event.
        with connection.cursor() as cursor:
            cursor.execute("LOCK TABLE payments_event")
        os.write(may_continue, b".")
        assert wait_until(_somebody_waits_for_a_lock, 10)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert Correction.objects.get().state == State.PROPOSED
    assert UnknownOutcome.objects.exists()

    decide.approve(correction, ben, NOTE)
    assert correction.state == State.DONE
    assert Event.objects.filter(type="charge.succeeded").count() == 1


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("table", ["payments_charge", "payments_event"], ids=["nothing read", "nothing recorded"])
def test_an_approval_that_cannot_be_recorded_is_refused_and_leaves_the_proposal_open(table: str, api: Api) -> None:
    correction, ben = proposed(unknown_payment(api)), operator("ben")
    with locked(table), pytest.raises(Refused, match="still open"):
        decide.approve(correction, ben, NOTE)
    assert Correction.objects.get().state == State.PROPOSED
    decide.approve(correction, ben, NOTE)
    assert correction.state == State.DONE
    assert Charge.objects.get().status == "succeeded"


def _somebody_waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM pg_locks l JOIN pg_database d ON d.oid = l.database"
            " WHERE NOT l.granted AND d.datname = current_database()"
        )
        return cursor.fetchone() is not None
