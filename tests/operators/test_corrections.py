"""Two operators correct an unknown outcome once, and never against the provider's own answer."""

from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.db import connection

from payments import clock
from payments.domain.approvals import decide
from payments.domain.charging import recovery
from payments.domain.charging.attempts import payment_of, reload
from payments.models import Attempt, AuditEntry, Charge, Correction, Event, UnknownOutcome
from payments.providers.base import WebhookEvent
from payments.providers.simulator.connector import Simulator
from payments.providers.simulator.models import SimulatedPayment
from tests.charging.doubles import CutsTheDatabase, Unreachable, provider
from tests.charging.elapsed_time import let_time_pass, recover
from tests.client import Api, error_of, made
from tests.operators.corrections import NOTE, corrected, operator, proposed, unknown_operation, unknown_payment

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


@pytest.mark.long
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


def test_a_decline_shows_the_merchant_its_code(api: Api) -> None:
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
def test_a_request_without_an_answer_gets_the_corrected_one_every_time(outcome: str, status: str, api: Api) -> None:
    body = {"amount": 100, "currency": "PHP", "source": api.source(), "description": "Interrupted"}
    with provider(CutsTheDatabase()):
        api.post("/charges/", body, key="interrupted")
    connection.close()
    let_time_pass(Attempt, "due_at")
    corrected(Attempt.objects.get(), outcome)
    first, second = (api.post("/charges/", body, key="interrupted") for _ in range(2))
    assert made(first)["status"] == status
    assert (first.content, first["Idempotent-Replayed"]) == (second.content, "true")


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
def test_unknown_outcomes_are_those_without_a_lookup_under_way(
    state: str, due_in_seconds: int | None, tries: int, kind: str, is_unknown: bool, api: Api
) -> None:
    attempt = unknown_operation(api, "capture")
    due_at = None if due_in_seconds is None else clock.now() + timedelta(seconds=due_in_seconds)
    rows = Attempt.objects.filter(id=attempt.id)
    if kind == "authorize":
        Attempt.objects.filter(kind="authorize").update(kind="void")
    outcome = "Approved" if state == "done" else ""
    rows.update(state=state, due_at=due_at, tries=tries, kind=kind, outcome=outcome, response={"outcome": "Pending"})
    assert UnknownOutcome.objects.filter(id=attempt.id).exists() == is_unknown


def test_a_known_outcome_is_not_corrected(api: Api) -> None:
    api.charge()
    with pytest.raises(ValidationError, match="known"):
        proposed(Attempt.objects.get())


def test_a_reversal_can_only_be_corrected_as_approved(api: Api) -> None:
    contradicted(unknown_payment(api))
    reversal = Attempt.objects.get(kind="reverse")
    for outcome in ("declined", "never_arrived"):
        with pytest.raises(ValidationError, match="reversal"):
            proposed(reversal, outcome)
    corrected(reversal, "approved")
    assert not UnknownOutcome.objects.exists()


def contradicted(attempt: Attempt) -> None:
    """Correct the attempt as declined, and then let the provider report the money."""
    late = payment_of(reload(attempt))
    corrected(attempt, "declined")
    recovery.apply_event(WebhookEvent(attempt.reference, Simulator().resolve(late)))


def test_money_that_comes_after_a_corrected_decline_is_reversed_and_shown(api: Api) -> None:
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
    decide.approve(correction, operator("ben"), NOTE)
    assert correction.state == State.OVERTAKEN
    assert Charge.objects.values().get() == before
    assert Event.objects.count() == events


def test_a_proposal_whose_outcome_became_known_is_closed_by_the_sweep(api: Api) -> None:
    overtaken = proposed(unknown_payment(api), "declined")
    recover()
    open_one = proposed(unknown_payment(api), "declined")
    assert decide.close_overtaken() == 1
    acts = [entry.action for entry in AuditEntry.objects.about(overtaken).order_by("id")]
    assert acts == ["proposed", "overtaken"]
    overtaken.refresh_from_db()
    open_one.refresh_from_db()
    assert (overtaken.state, open_one.state) == (State.OVERTAKEN, State.PROPOSED)
