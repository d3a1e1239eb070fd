"""An unknown outcome is corrected by two people, once, and never against what the provider said first."""

import os
import signal
import threading
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction

from config.embedded.processes import wait_until
from payments import clock
from payments.domain import corrections, recovery
from payments.domain.attempts import payment_of, reload
from payments.domain.corrections import Refused
from payments.models import Attempt, Charge, Correction, Event, UnknownOutcome
from payments.providers.base import Operation, Outcome, Payment, Report
from payments.providers.simulator.connector import Simulator
from payments.providers.simulator.models import SimulatedPayment
from tests.client import APPROVED, Api, error_of, made
from tests.domain.correcting import (
    NOTE,
    corrected,
    new_proposal,
    operator,
    proposed,
    unknown_operation,
    unknown_payment,
)
from tests.domain.doubles import CutsTheDatabase, Unreachable, provider
from tests.domain.passing import let_time_pass, recover
from tests.racing import at_once

State = Correction.State


@pytest.mark.parametrize(
    ("outcome", "capture", "status", "event"),
    [
        ("approved", True, "succeeded", "charge.succeeded"),
        ("approved", False, "succeeded", "charge.succeeded"),
        ("declined", True, "failed", "charge.failed"),
        ("never_arrived", True, "failed", "charge.failed"),
    ],
)
def test_an_approved_correction_of_a_payment_is_recorded_as_the_providers_answer(
    outcome: str, capture: bool, status: str, event: str, api: Api
) -> None:
    attempt = unknown_payment(api, capture=capture)
    corrected(attempt, outcome)
    charge = Charge.objects.get()
    assert (charge.status, charge.captured) == (status, outcome == "approved" and capture)
    assert list(Event.objects.filter(object_id=charge.id).order_by("sequence").values_list("type", flat=True)) == [
        "charge.created",
        event,
    ]
    attempt.refresh_from_db()
    assert (attempt.state, attempt.provider_ref) == ("done", "psp_77" if outcome == "approved" else "")


@pytest.mark.parametrize(
    ("verb", "outcome", "status"),
    [
        ("capture", "approved", "succeeded"),
        ("capture", "declined", "succeeded"),
        ("capture", "never_arrived", "succeeded"),
        ("void", "approved", "voided"),
        ("void", "declined", "succeeded"),
        ("void", "never_arrived", "succeeded"),
        ("refund", "approved", "refunded"),
        ("refund", "declined", "succeeded"),
        ("refund", "never_arrived", "succeeded"),
    ],
)
def test_an_approved_correction_of_an_operation_frees_the_charge(
    verb: str, outcome: str, status: str, api: Api
) -> None:
    attempt = unknown_operation(api, verb)
    corrected(attempt, outcome)
    charge = Charge.objects.get()
    assert (charge.status, charge.operation) == (status, "")
    assert charge.captured == (verb == "refund" or (verb, outcome) == ("capture", "approved"))
    assert not UnknownOutcome.objects.exists()


def test_a_decline_tells_the_merchant_its_code(api: Api) -> None:
    corrected(unknown_payment(api), "declined")
    assert Charge.objects.get().failure_data["code"] == "insufficient_funds"


def test_no_operation_starts_before_an_unknown_one_is_corrected(api: Api) -> None:
    attempt = unknown_operation(api, "capture")
    void = f"/charges/ch_{attempt.charge_id.hex}/void"
    with provider(Unreachable()):
        for _ in range(2):
            assert error_of(api.post(void))["code"] == "resource_busy"
    corrected(attempt, "approved")
    assert made(api.post(void))["status"] == "voided"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("outcome", "status"), [("approved", "succeeded"), ("never_arrived", "failed")])
def test_a_request_that_nobody_answered_is_answered_alike_ever_after(outcome: str, status: str, api: Api) -> None:
    body = {"amount": 100, "currency": "PHP", "source": api.source(), "description": "Interrupted"}
    with provider(CutsTheDatabase()):
        api.post("/charges/", body, key="interrupted")
    connection.close()
    let_time_pass(Attempt, "due_at")
    corrected(Attempt.objects.get(), outcome)
    first, second = (api.post("/charges/", body, key="interrupted") for _ in range(2))
    assert made(first)["status"] == status
    assert (first.content, first["Idempotent-Replayed"]) == (second.content, "true")


def test_nobody_decides_their_own_proposal(api: Api) -> None:
    correction = proposed(unknown_payment(api))
    for decide in (corrections.approve, corrections.reject):
        with pytest.raises(Refused, match="their own"):
            decide(correction, operator("ana"), NOTE)
    assert Correction.objects.get().state == State.PROPOSED
    assert UnknownOutcome.objects.exists()


def test_a_decision_says_what_it_rests_on(api: Api) -> None:
    correction = proposed(unknown_payment(api))
    with pytest.raises(Refused, match="Say"):
        corrections.approve(correction, operator("ben"), " ")
    assert Correction.objects.get().state == State.PROPOSED


def test_a_rejected_proposal_changes_nothing_and_makes_room_for_another(api: Api) -> None:
    attempt = unknown_payment(api)
    first = proposed(attempt, "declined")
    corrections.reject(first, operator("ben"), NOTE)
    assert Charge.objects.get().status == "pending"
    second = proposed(attempt, "approved")
    with pytest.raises(Refused, match="no more"):
        corrections.approve(first, operator("ben"), NOTE)
    assert corrections.approve(second, operator("ben"), NOTE).state == State.APPROVED


def test_only_whoever_proposed_may_withdraw(api: Api) -> None:
    correction = proposed(unknown_payment(api))
    with pytest.raises(Refused):
        corrections.withdraw(correction, operator("ben"))
    corrections.withdraw(correction, operator("ana"))
    assert Correction.objects.get().state == State.WITHDRAWN
    with pytest.raises(Refused):
        corrections.approve(correction, operator("ben"), NOTE)


def test_a_second_proposal_waits_for_the_first(api: Api) -> None:
    attempt = unknown_payment(api)
    proposed(attempt)
    with pytest.raises(ValidationError, match="open proposal"):
        proposed(attempt, "declined")


@pytest.mark.parametrize(
    "members",
    [
        {"evidence": ""},
        {"evidence": " \n"},
        {"evidence": "x" * 2001},
        {"outcome": "lost"},
        {"provider_ref": ""},
        {"decline_code": "card_declined"},
        {"outcome": "declined", "decline_code": ""},
        {"outcome": "declined", "provider_ref": "psp_77"},
        {"outcome": "declined", "decline_code": "bad_luck"},
        {"outcome": "never_arrived", "provider_ref": "psp_77"},
        {"outcome": "never_arrived", "decline_code": "card_declined"},
    ],
    ids=str,
)
def test_a_proposal_that_does_not_hold_together_is_refused(members: dict[str, Any], api: Api) -> None:
    attempt = unknown_payment(api)
    with pytest.raises(ValidationError):
        corrections.propose(new_proposal(attempt, **members))
    assert not Correction.objects.exists()


SECRETS = [f"He paid with {APPROVED}", "4000 0000 0000 3055", "cvc: 123", "key sk_live_0123456789abcdef"]


@pytest.mark.parametrize("text", SECRETS)
def test_a_pasted_secret_is_refused_and_not_repeated(text: str, api: Api) -> None:
    attempt = unknown_payment(api)
    with pytest.raises(ValidationError, match="card number") as refusal:
        proposed(attempt, evidence=text)
    assert text not in str(refusal.value)
    with pytest.raises(ValidationError, match="card number"):
        corrections.approve(proposed(attempt), operator("ben"), text)
    assert Correction.objects.get().note == ""


@pytest.mark.parametrize("text", [APPROVED, "4000-0000 0000-3055"])
def test_a_card_number_is_no_reference(text: str, api: Api) -> None:
    with pytest.raises(ValidationError, match="card number"):
        proposed(unknown_payment(api), provider_ref=text)


def test_a_long_number_may_be_a_reference(api: Api) -> None:
    corrected(unknown_payment(api), "approved", provider_ref="2026112100000077")
    assert Attempt.objects.get().provider_ref == "2026112100000077"


@pytest.mark.parametrize(
    ("state", "due_in_seconds", "tries", "kind", "is_unknown"),
    [
        ("unknown", 3600, 4, "capture", True),
        ("unknown", -1, 0, "authorize", True),
        ("open", -1, 0, "capture", True),
        ("open", 3600, 1, "capture", True),
        ("open", 10, 0, "capture", False),
        ("open", 10, 0, "reverse", True),
        ("unknown", 3600, 9, "reverse", True),
        ("waiting", -1, 3, "refund", False),
        ("done", None, 3, "capture", False),
    ],
)
def test_the_desk_has_what_nobody_knows_and_nobody_is_asking(
    state: str, due_in_seconds: int | None, tries: int, kind: str, is_unknown: bool, api: Api
) -> None:
    attempt = unknown_operation(api, "capture")
    due_at = None if due_in_seconds is None else clock.now() + timedelta(seconds=due_in_seconds)
    rows = Attempt.objects.filter(id=attempt.id)
    if kind == "authorize":
        Attempt.objects.filter(kind="authorize").update(kind="void")
    rows.update(state=state, due_at=due_at, tries=tries, kind=kind, outcome="Approved" if state == "done" else "")
    assert UnknownOutcome.objects.filter(id=attempt.id).exists() == is_unknown


def test_a_known_outcome_is_not_corrected(api: Api) -> None:
    api.charge()
    with pytest.raises(ValidationError, match="known"):
        proposed(Attempt.objects.get())


def test_a_reversal_is_only_ever_done(api: Api) -> None:
    contradicted(unknown_payment(api))
    reversal = Attempt.objects.get(kind="reverse")
    for outcome in ("declined", "never_arrived"):
        with pytest.raises(ValidationError, match="reversal"):
            proposed(reversal, outcome)
    corrected(reversal, "approved")
    assert not UnknownOutcome.objects.exists()


def contradicted(attempt: Attempt) -> None:
    """Operators say declined, and then the provider tells of the money."""
    late = payment_of(reload(attempt))
    corrected(attempt, "declined")
    recovery.apply_report(Report(attempt.reference, Simulator().resolve(late)))


def test_money_that_comes_after_operators_said_declined_is_reversed_and_shown(api: Api) -> None:
    contradicted(unknown_payment(api))
    recover()
    charge = Charge.objects.get()
    assert (charge.status, charge.reversed_late) == ("failed", True)
    assert SimulatedPayment.objects.get().state == "voided"
    assert Attempt.objects.get(kind="reverse").state == "done"


def test_an_approval_after_the_providers_own_answer_changes_nothing(api: Api) -> None:
    correction = proposed(unknown_payment(api), "declined")
    recover()
    before, events = Charge.objects.values().get(), Event.objects.count()
    assert corrections.approve(correction, operator("ben"), NOTE).state == State.OVERTAKEN
    assert Charge.objects.values().get() == before
    assert Event.objects.count() == events


def test_a_proposal_whose_outcome_became_known_is_closed_by_the_sweep(api: Api) -> None:
    overtaken = proposed(unknown_payment(api), "declined")
    recover()
    open_one = proposed(unknown_payment(api), "declined")
    assert corrections.close_overtaken() == 1
    overtaken.refresh_from_db()
    open_one.refresh_from_db()
    assert (overtaken.state, open_one.state) == (State.OVERTAKEN, State.PROPOSED)


@pytest.mark.parametrize(
    "values",
    [
        {"decided_by": "ana", "decided_at": clock.now(), "note": NOTE, "state": "approved"},
        {"decided_by": "ben", "note": NOTE, "state": "approved"},
        {"decided_at": clock.now(), "note": NOTE, "state": "approved"},
        {"decided_by": "ben", "decided_at": clock.now(), "state": "approved"},
        {"decided_by": "ben", "decided_at": clock.now(), "note": NOTE},
        {"note": NOTE},
        {"state": "approved"},
        {"state": "lost"},
        {"evidence": " "},
        {"provider_ref": ""},
        {"decline_code": "card_declined"},
        {"outcome": "lost"},
    ],
    ids=lambda values: "-".join(values),
)
def test_the_database_refuses_what_must_never_be(values: dict[str, Any], api: Api) -> None:
    correction = proposed(unknown_payment(api))
    if name := values.get("decided_by"):
        values = values | {"decided_by": operator(name)}
    with pytest.raises(IntegrityError), transaction.atomic():
        Correction.objects.filter(id=correction.id).update(**values)


def test_the_database_refuses_a_second_open_proposal(api: Api) -> None:
    attempt = unknown_payment(api)
    proposed(attempt)
    with pytest.raises(IntegrityError), transaction.atomic():
        new_proposal(attempt, "declined").save(force_insert=True)


@pytest.mark.django_db(transaction=True)
def test_of_approvers_at_once_one_wins(api: Api) -> None:
    correction = proposed(unknown_payment(api))
    approvers = [operator(f"ben{number}") for number in range(8)]

    def approve(number: int) -> str:
        try:
            return corrections.approve(Correction.objects.get(), approvers[number], NOTE).state
        except Refused:
            return "refused"

    assert sorted(at_once(8, approve)) == ["approved", *["refused"] * 7]
    assert Event.objects.filter(type="charge.succeeded").count() == 1
    correction.refresh_from_db()
    assert correction.decided_by in approvers


@pytest.mark.django_db(transaction=True)
def test_of_proposals_at_once_one_is_open(api: Api) -> None:
    attempt = unknown_payment(api)
    people = [operator(f"ana{number}") for number in range(8)]

    def propose(number: int) -> bool:
        try:
            return bool(proposed(attempt, proposed_by=people[number]))
        except ValidationError:
            return False

    assert sum(at_once(8, propose)) == 1
    assert Correction.objects.count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("lap", range(8))
def test_an_approver_and_a_lookup_at_once_record_one_of_both(lap: int, api: Api) -> None:
    attempt = unknown_payment(api)
    correction, ben = proposed(attempt), operator("ben")

    def one_of_both(number: int) -> None:
        if number:
            recovery.resolve(attempt)
        else:
            corrections.approve(correction, ben, NOTE)

    at_once(2, one_of_both)
    correction.refresh_from_db()
    won = correction.state == State.APPROVED
    assert won or correction.state == State.OVERTAKEN
    assert (Attempt.objects.get().provider_ref == "psp_77") == won
    assert Charge.objects.get().status == "succeeded"
    assert Event.objects.filter(type="charge.succeeded").count() == 1


class AnswersAfter(Simulator):
    """A lookup under way, which ends when the test says so."""

    def __init__(self) -> None:
        self.asked, self.go_on = threading.Event(), threading.Event()

    def resolve(self, asked: Payment | Operation) -> Outcome:
        self.asked.set()
        self.go_on.wait(10)
        return super().resolve(asked)


@pytest.mark.django_db(transaction=True)
def test_money_found_by_a_lookup_that_was_under_way_at_the_approval_is_reversed(api: Api) -> None:
    attempt, slow, ben = unknown_payment(api), AnswersAfter(), operator("ben")
    correction = proposed(attempt, "declined")

    def lookup_and_approval(number: int) -> None:
        if number:
            recovery.resolve(attempt)
        else:
            slow.asked.wait(10)
            corrections.approve(correction, ben, NOTE)
            slow.go_on.set()

    with provider(slow):
        at_once(2, lookup_and_approval)
    recover()
    charge = Charge.objects.get()
    assert (charge.status, charge.reversed_late, SimulatedPayment.objects.get().state) == ("failed", True, "voided")


@pytest.mark.django_db(transaction=True)
def test_an_approver_killed_between_decision_and_record_leaves_the_proposal_open(api: Api) -> None:
    correction, ben = proposed(unknown_payment(api)), operator("ben")
    connection.close()
    ready, go_on = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(ready, 1)
        corrections.approve(correction, ben, NOTE)
        os._exit(0)
    with transaction.atomic():
        # Nothing can be recorded without an event.
        with connection.cursor() as cursor:
            cursor.execute("LOCK TABLE payments_event")
        os.write(go_on, b".")
        assert wait_until(_somebody_waits_for_a_lock, 10)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert Correction.objects.get().state == State.PROPOSED
    assert UnknownOutcome.objects.exists()

    assert corrections.approve(correction, ben, NOTE).state == State.APPROVED
    assert Event.objects.filter(type="charge.succeeded").count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("table", ["payments_charge", "payments_event"], ids=["nothing read", "nothing recorded"])
def test_an_approval_that_cannot_be_recorded_is_refused_and_leaves_the_proposal_open(table: str, api: Api) -> None:
    correction, ben = proposed(unknown_payment(api)), operator("ben")
    busy = connection.copy()
    busy.set_autocommit(False)
    try:
        with busy.cursor() as theirs, connection.cursor() as ours:
            theirs.execute(f"LOCK TABLE {table}")
            ours.execute("SET lock_timeout = '50ms'")
            with pytest.raises(Refused, match="still open"):
                corrections.approve(correction, ben, NOTE)
            ours.execute("SET lock_timeout = '5s'")
    finally:
        busy.close()
    assert Correction.objects.get().state == State.PROPOSED
    assert corrections.approve(correction, ben, NOTE).state == State.APPROVED
    assert Charge.objects.get().status == "succeeded"


def _somebody_waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM pg_locks l JOIN pg_database d ON d.oid = l.database"
            " WHERE NOT l.granted AND d.datname = current_database()"
        )
        return cursor.fetchone() is not None
