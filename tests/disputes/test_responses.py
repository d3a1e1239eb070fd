"""Responses to disputes: evidence and acceptance, from the merchant to the provider."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from payments import clock
from payments.domain.charging import attempts
from payments.domain.disputes import respond
from payments.domain.disputes.find import authorization_of
from payments.domain.disputes.record import record
from payments.models import Attempt, Dispute
from payments.providers.base import Rejected
from payments.providers.disputes import Disputed, Stage
from payments.providers.registry import CONNECTORS
from payments.sweeps.scope import ALL_MERCHANTS
from tests.charging.doubles import Double, LosesAnswers, provider
from tests.client import Api, error_of, made
from tests.concurrency import at_once
from tests.disputes.stories import AT_ONCE, INQUIRY, LOST, WON, a_week_passes, dispute_on

TOO_LATE = Rejected("too_late", "The bank has decided.")


def responded(api: Api, card: str, text: str) -> dict[str, Any]:
    """Return a dispute whose evidence was sent."""
    path = dispute_on(api, card)
    made(api.post(f"{path}/evidence", {"type": "receipt", "text": text}))
    made(api.post(f"{path}/submit"))
    respond.send_due()
    return made(api.get(path))


def test_submitted_evidence_brings_the_dispute_under_review(api: Api) -> None:
    dispute = responded(api, AT_ONCE, "Delivered")
    assert (dispute["status"], dispute["response"]["type"], dispute["response"]["status"]) == (
        "under_review",
        "evidence",
        "sent",
    )


def test_a_submission_is_answered_before_the_provider_has_it(api: Api) -> None:
    path = dispute_on(api)
    made(api.post(f"{path}/evidence", {"type": "other", "text": "Delivered"}))
    dispute = made(api.post(f"{path}/submit"))
    assert (dispute["status"], dispute["response"]["status"]) == ("needs_response", "pending")


@pytest.mark.long
@pytest.mark.parametrize(
    ("card", "text", "status", "withdrawn"),
    [
        (AT_ONCE, "This is winning_evidence.", "won", False),
        (AT_ONCE, "Delivered", "lost", True),
        (INQUIRY, "Delivered", "won", False),
        (LOST, "This is winning_evidence.", "lost", True),
    ],
)
def test_the_simulators_bank_decides_by_card_and_evidence(
    api: Api, card: str, text: str, status: str, withdrawn: bool
) -> None:
    dispute = responded(api, card, text)
    a_week_passes()
    ended = made(api.get(f"/disputes/{dispute['id']}"))
    assert (ended["status"], ended["withdrawn"]) == (status, withdrawn)


def test_a_dispute_without_a_response_expires(api: Api) -> None:
    path = dispute_on(api)
    a_week_passes()
    assert made(api.get(path))["status"] == "expired"


def test_an_accepted_dispute_stays_lost_whatever_its_card_would_do(api: Api) -> None:
    path = dispute_on(api, WON)
    a_week_passes()
    made(api.post(f"{path}/accept"))
    respond.send_due()
    a_week_passes()
    dispute = made(api.get(path))
    assert (dispute["status"], dispute["withdrawn"], dispute["response"]["status"]) == ("accepted", True, "sent")


def test_an_inquiry_that_became_a_chargeback_asks_for_another_response(api: Api) -> None:
    dispute = responded(api, WON, "Delivered")
    assert dispute["status"] == "under_review"
    a_week_passes()
    asked_again = made(api.get(f"/disputes/{dispute['id']}"))
    assert asked_again["status"] == "needs_response"
    assert "response" not in asked_again


def test_evidence_against_the_notice_of_a_chargeback_counts_for_the_chargeback(api: Api) -> None:
    path = dispute_on(api, INQUIRY)
    dispute = Dispute.objects.get()

    def report(stage: Stage) -> None:
        reported = Disputed(dispute.provider_ref, stage, dispute.amount, dispute.currency)
        record(attempts.reload(authorization_of(dispute)), reported)

    report(Stage.NOTICE)
    made(api.post(f"{path}/evidence", {"type": "other", "text": "Delivered"}))
    made(api.post(f"{path}/submit"))
    respond.send_due()
    report(Stage.CHARGEBACK)
    after = made(api.get(path))
    assert (after["status"], after["withdrawn"], after["response"]["status"]) == ("under_review", True, "sent")


def test_nothing_is_submitted_without_evidence(api: Api) -> None:
    assert error_of(api.post(f"{dispute_on(api)}/submit"))["code"] == "evidence_missing"


def test_an_inquiry_cannot_be_accepted(api: Api) -> None:
    assert error_of(api.post(f"{dispute_on(api, INQUIRY)}/accept"))["code"] == "dispute_not_answerable"


@pytest.mark.parametrize("call", ["submit", "accept", "evidence"])
def test_a_dispute_is_responded_to_once(api: Api, call: str) -> None:
    path = f"/disputes/{responded(api, AT_ONCE, 'Delivered')['id']}"
    body = {"type": "other", "text": "More"} if call == "evidence" else None
    assert error_of(api.post(f"{path}/{call}", body))["code"] == "dispute_not_answerable"


def test_a_submission_under_its_key_is_answered_again(api: Api) -> None:
    path = dispute_on(api)
    made(api.post(f"{path}/evidence", {"type": "other", "text": "Delivered"}))
    first, again = (api.post(f"{path}/submit", None, "once") for _ in range(2))
    assert first.content == again.content
    assert Dispute.objects.get().version == 2


def accepted(api: Api) -> str:
    """Return the path of a dispute whose loss is to be accepted."""
    path = dispute_on(api)
    made(api.post(f"{path}/accept"))
    return path


def test_a_response_whose_answer_was_lost_is_sent_again(api: Api) -> None:
    path = accepted(api)
    with provider(LosesAnswers()):
        respond.send_due()
    assert made(api.get(path))["response"]["status"] == "pending"
    made(api.post("/test/clock", {"advance_seconds": 60}))
    assert made(api.get(path))["status"] == "accepted"


def test_a_refused_response_says_why_and_may_be_corrected(api: Api) -> None:
    path = accepted(api)
    with provider(Double(respond=TOO_LATE)):
        respond.send_due()
    response = made(api.get(path))["response"]
    assert (response["status"], response["message"]) == ("refused", "The bank has decided.")
    made(api.post(f"{path}/accept"))
    respond.send_due()
    assert made(api.get(path))["status"] == "accepted"


def test_a_refusal_after_a_lost_answer_is_unknown_because_the_first_may_have_arrived(api: Api) -> None:
    path = accepted(api)
    with provider(LosesAnswers()):
        respond.send_due()
    with provider(Double(respond=TOO_LATE)), clock.at(clock.now() + timedelta(minutes=5)):
        respond.send_due()
    response = made(api.get(path))["response"]
    assert (response["status"], response["message"]) == ("unknown", f"The bank has decided. {respond.MAY_HAVE_IT}")


def test_a_response_that_is_never_answered_ends_as_unknown_and_not_as_refused(api: Api) -> None:
    path = accepted(api)
    Dispute.objects.update(response_tries=respond.TRIES_MAX - 1)
    with provider(LosesAnswers()):
        respond.send_due()
    response = made(api.get(path))["response"]
    assert (response["status"], "may have reached" in response["message"]) == ("unknown", True)
    made(api.post(f"{path}/accept"))
    respond.send_due()
    assert made(api.get(path))["status"] == "accepted"


def test_a_response_that_a_dead_worker_claimed_is_sent_by_another(api: Api) -> None:
    path = accepted(api)
    respond._claim(ALL_MERCHANTS)
    assert respond.send_due() == 0
    with clock.at(clock.now() + respond.DUE.lease):
        assert respond.send_due() == 1
    assert made(api.get(path))["status"] == "accepted"


@pytest.mark.parametrize("is_refused", [False, True], ids=["pending", "refused"])
def test_the_providers_own_message_proves_that_it_has_the_evidence(api: Api, is_refused: bool) -> None:
    path = dispute_on(api)
    made(api.post(f"{path}/evidence", {"type": "other", "text": "Delivered"}))
    made(api.post(f"{path}/submit"))
    if is_refused:
        with provider(Double(respond=TOO_LATE)):
            respond.send_due()
    dispute = Dispute.objects.get()
    attempt = attempts.reload(authorization_of(dispute))
    record(attempt, Disputed(dispute.provider_ref, Stage.EVIDENCE, dispute.amount, dispute.currency))
    response = made(api.get(path))["response"]
    assert (response["status"], "message" in response) == ("sent", False)
    assert respond.send_due() == 0


def test_a_bank_that_asks_again_is_answered_again_and_what_it_had_proves_nothing(api: Api) -> None:
    path = f"/disputes/{responded(api, AT_ONCE, 'Delivered')['id']}"
    dispute = Dispute.objects.get()

    def report(*stages: Stage) -> None:
        for stage in stages:
            reported = Disputed(dispute.provider_ref, stage, dispute.amount, dispute.currency)
            record(attempts.reload(authorization_of(dispute)), reported)

    report(Stage.ASKED_AGAIN)
    made(api.post(f"{path}/submit"))
    report(Stage.CHARGEBACK, Stage.EVIDENCE, Stage.ASKED_AGAIN)
    pending = made(api.get(path))
    assert (pending["status"], pending["response"]["status"]) == ("needs_response", "pending")
    report(Stage.EVIDENCE_AGAIN)
    after = made(api.get(path))
    assert (after["status"], after["withdrawn"], after["response"]["status"]) == ("under_review", True, "sent")


def test_a_dispute_whose_time_is_over_takes_no_response(api: Api) -> None:
    path = dispute_on(api)
    Dispute.objects.update(evidence_due_at=clock.now())
    assert error_of(api.post(f"{path}/accept"))["code"] == "dispute_not_answerable"


def test_a_dispute_at_a_provider_that_takes_no_responses_says_where_to_respond(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = dispute_on(api)
    monkeypatch.setitem(CONNECTORS, "xendit", replace(CONNECTORS["xendit"], takes_responses=False))
    Attempt.objects.update(provider="xendit")
    assert "at the provider itself" in error_of(api.post(f"{path}/accept"))["message"]


@pytest.mark.django_db(transaction=True)
def test_of_two_responses_at_once_one_is_taken(api: Api) -> None:
    path = dispute_on(api)
    made(api.post(f"{path}/evidence", {"type": "other", "text": "Delivered"}))
    answers = at_once(2, lambda number: api.post(f"{path}/{('submit', 'accept')[number]}").status_code)
    assert sorted(answers) == [200, 409]
    assert Dispute.objects.get().response_state == "pending"
