"""Rules for proposing, deciding and withdrawing corrections, in the code and in the database."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from payments import clock
from payments.domain.operators import corrections
from payments.domain.operators.four_eyes import Refused
from payments.models import Attempt, Charge, Correction, UnknownOutcome
from tests.client import APPROVED, Api
from tests.operators.corrections import NOTE, corrected, new_proposal, operator, proposed, unknown_payment

State = Correction.State


def test_nobody_decides_their_own_proposal(api: Api) -> None:
    correction = proposed(unknown_payment(api))
    for decide in (corrections.approve, corrections.reject):
        with pytest.raises(Refused, match="their own"):
            decide(correction, operator("ana"), NOTE)
    assert Correction.objects.get().state == State.PROPOSED
    assert UnknownOutcome.objects.exists()


def test_a_decision_needs_a_reason(api: Api) -> None:
    correction = proposed(unknown_payment(api))
    with pytest.raises(Refused, match="Give a reason"):
        corrections.approve(correction, operator("ben"), " ")
    assert Correction.objects.get().state == State.PROPOSED


def test_a_rejected_proposal_changes_nothing_and_allows_another(api: Api) -> None:
    attempt = unknown_payment(api)
    first = proposed(attempt, "declined")
    corrections.reject(first, operator("ben"), NOTE)
    assert Charge.objects.get().status == "pending"
    second = proposed(attempt, "approved")
    with pytest.raises(Refused, match="no longer open"):
        corrections.approve(first, operator("ben"), NOTE)
    assert corrections.approve(second, operator("ben"), NOTE).state == State.APPROVED


def test_only_the_proposer_may_withdraw(api: Api) -> None:
    correction = proposed(unknown_payment(api))
    with pytest.raises(Refused):
        corrections.withdraw(correction, operator("ben"))
    corrections.withdraw(correction, operator("ana"))
    assert Correction.objects.get().state == State.WITHDRAWN
    with pytest.raises(Refused):
        corrections.approve(correction, operator("ben"), NOTE)


def test_a_second_open_proposal_is_refused(api: Api) -> None:
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
def test_an_inconsistent_proposal_is_refused(members: dict[str, Any], api: Api) -> None:
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
def test_the_database_refuses_an_inconsistent_correction(values: dict[str, Any], api: Api) -> None:
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
