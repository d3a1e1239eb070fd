"""Rules for proposing, deciding and withdrawing corrections, in the code and in the database."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from payments import clock
from payments.domain.approvals import decide
from payments.domain.approvals.request import submit
from payments.domain.operators.four_eyes import Refused
from payments.models import Attempt, Charge, Correction
from tests.client import APPROVED, Api
from tests.operators.corrections import NOTE, corrected, new_proposal, operator, proposed, unknown_payment

State = Correction.State


def test_a_rejected_proposal_changes_nothing_and_allows_another(api: Api) -> None:
    attempt = unknown_payment(api)
    first = proposed(attempt, "declined")
    decide.reject(first, operator("ben"), NOTE)
    assert Charge.objects.get().status == "pending"
    second = proposed(attempt, "approved")
    with pytest.raises(Refused, match="no longer open"):
        decide.approve(first, operator("ben"), NOTE)
    decide.approve(second, operator("ben"), NOTE)
    assert second.state == State.DONE


def test_a_second_open_proposal_is_refused(api: Api) -> None:
    attempt = unknown_payment(api)
    proposed(attempt)
    with pytest.raises(Refused, match="open request about this"):
        proposed(attempt, "declined")


@pytest.mark.parametrize(
    "members",
    [
        {"reason": ""},
        {"reason": " \n"},
        {"reason": "x" * 2001},
        {"outcome": "lost"},
        {"reference": ""},
        {"code": "card_declined"},
        {"outcome": "declined", "code": ""},
        {"outcome": "declined", "reference": "psp_77"},
        {"outcome": "declined", "code": "bad_luck"},
        {"outcome": "never_arrived", "reference": "psp_77"},
        {"outcome": "never_arrived", "code": "card_declined"},
    ],
    ids=str,
)
def test_an_inconsistent_proposal_is_refused(members: dict[str, Any], api: Api) -> None:
    attempt = unknown_payment(api)
    with pytest.raises(ValidationError):
        submit(new_proposal(attempt, **members))
    assert not Correction.objects.exists()


SECRETS = [f"He paid with {APPROVED}", "4000 0000 0000 3055", "cvc: 123", "key sk_live_0123456789abcdef"]


@pytest.mark.parametrize("text", SECRETS)
def test_a_pasted_secret_is_refused_and_not_repeated(text: str, api: Api) -> None:
    attempt = unknown_payment(api)
    with pytest.raises(ValidationError, match="card number") as refusal:
        proposed(attempt, reason=text)
    assert text not in str(refusal.value)
    with pytest.raises(ValidationError, match="card number"):
        decide.approve(proposed(attempt), operator("ben"), text)
    assert Correction.objects.get().note == ""


@pytest.mark.parametrize("text", [APPROVED, "4000-0000 0000-3055"])
def test_a_card_number_is_no_reference(text: str, api: Api) -> None:
    with pytest.raises(ValidationError, match="card number"):
        proposed(unknown_payment(api), reference=text)


def test_a_long_number_may_be_a_reference(api: Api) -> None:
    corrected(unknown_payment(api), "approved", reference="2026112100000077")
    assert Attempt.objects.get().provider_ref == "2026112100000077"


@pytest.mark.long
@pytest.mark.parametrize(
    "values",
    [
        {"decided_by": "ana", "decided_at": clock.now(), "note": NOTE, "state": "done"},
        {"decided_by": "ben", "note": NOTE, "state": "done"},
        {"decided_at": clock.now(), "note": NOTE, "state": "done"},
        {"decided_by": "ben", "decided_at": clock.now(), "state": "done"},
        {"decided_by": "ben", "decided_at": clock.now(), "note": NOTE, "state": "approved"},
        {"decided_by": "ben", "decided_at": clock.now(), "note": NOTE},
        {"note": NOTE},
        {"state": "done"},
        {"state": "refused"},
        {"state": "lost"},
        {"reason": " "},
        {"after": {}},
        {"after": {"outcome": "approved", "code": "", "reference": ""}},
        {"after": {"outcome": "approved", "code": "card_declined", "reference": "psp_77"}},
        {"after": {"outcome": "declined", "code": "", "reference": ""}},
        {"after": {"outcome": "lost", "code": "", "reference": "psp_77"}},
        {"after": {"outcome": "approved", "code": ""}},
        {"attempt": None},
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
