"""Responses to disputes, from the API to the fake of Xendit."""

from datetime import timedelta

import pytest

from payments import clock
from payments.domain.disputes import respond
from tests.client import made
from tests.provider_events.live.world import World
from tests.provider_events.live.xendit_disputes import (
    MORE_WANTED,
    at_xendit,
    broken,
    disputed,
    moved,
    only,
    report,
    reported,
)
from tests.provider_events.live.xendit_disputes import world as world  # a fixture
from tests.provider_events.psp import standing
from tests.providers.bench import Spoilt

pytestmark = pytest.mark.django_db


def submitted(world: World, *texts: str) -> str:
    """Return the path of the dispute, whose evidence was submitted."""
    path = f"/disputes/{only(world)['id']}"
    for type_, text in zip(("shipping_documentation", "other"), texts or ("Signed", "She was there"), strict=False):
        made(world.live.post(f"{path}/evidence", {"type": type_, "text": text}))
    made(world.live.post(f"{path}/submit"))
    return path


def response_of(world: World) -> tuple[str, str]:
    dispute = only(world)
    return dispute["status"], dispute["response"]["status"]


@pytest.mark.long
def test_submitted_evidence_is_sent_to_xendit_and_wins(world: World) -> None:
    dispute = disputed(world)
    report(world)
    submitted(world)
    respond.send_due()
    assert response_of(world) == ("under_review", "sent")
    assert (dispute.challenges, len(dispute.evidences)) == (1, 2)
    dispute.move("WON", "CHALLENGED")
    report(world)
    assert (response_of(world), moved()) == (("won", "sent"), [-10_000, 10_000])
    assert {state for state, _ in standing()} == {"applied"}


def test_an_accepted_loss_is_accepted_at_xendit(world: World) -> None:
    dispute = disputed(world)
    report(world)
    made(world.live.post(f"/disputes/{only(world)['id']}/accept"))
    respond.send_due()
    report(world)
    assert (response_of(world), dispute.acceptances) == (("accepted", "sent"), 1)
    assert (moved(), {state for state, _ in standing()}) == ([-10_000], {"applied"})


@pytest.mark.long
@pytest.mark.parametrize("number", [0, 1])
def test_evidence_whose_answer_is_lost_is_asked_about_and_not_sent_twice(world: World, number: int) -> None:
    dispute = disputed(world)
    report(world)
    submitted(world)
    at_xendit(world).spoil_posts([None] * number + [Spoilt.LOST])
    respond.send_due()
    assert response_of(world) == ("needs_response", "pending")
    with clock.at(clock.now() + timedelta(minutes=5)):
        respond.send_due()
    assert (response_of(world), dispute.challenges) == (("under_review", "sent"), 1)


@pytest.mark.long
def test_a_message_that_overtakes_the_lost_answer_proves_the_response(world: World) -> None:
    dispute = disputed(world)
    report(world)
    submitted(world)
    at_xendit(world).spoil_posts([None, Spoilt.LOST])
    respond.send_due()
    report(world)
    assert response_of(world) == ("under_review", "sent")
    with clock.at(clock.now() + timedelta(minutes=5)):
        assert respond.send_due() == 0
    assert dispute.challenges == 1


@pytest.mark.long
def test_a_message_from_before_the_response_does_not_undo_it(world: World) -> None:
    dispute = disputed(world)
    first = reported(world)
    world.announce(first)
    submitted(world)
    dispute.is_slow = True
    respond.send_due()
    [(headers, body)] = first
    world.announce([(headers, body.replace(b"dispute.action_required", b"dispute.due_date_approaching"))])
    assert response_of(world) == ("under_review", "sent")
    assert {state for state, _ in standing()} == {"applied"}


@pytest.mark.long
def test_a_bank_that_wants_more_is_answered_once_more(world: World) -> None:
    dispute = disputed(world)
    report(world)
    path = submitted(world)
    respond.send_due()
    dispute.due_at += timedelta(days=7)
    dispute.move(*MORE_WANTED)
    report(world)
    asked = only(world)
    assert (asked["status"], "response" in asked) == ("needs_response", False)
    assert dispute.due_at.strftime("%Y-%m-%d") in asked["evidence_due_at"]

    made(world.live.post(f"{path}/evidence", {"type": "shipping_documentation", "text": "And signed for by Juan"}))
    made(world.live.post(f"{path}/submit"))
    report(world)
    assert response_of(world) == ("needs_response", "pending")
    respond.send_due()
    assert (response_of(world), dispute.challenges, len(dispute.evidences)) == (("under_review", "sent"), 2, 3)
    dispute.move("LOST", "CHALLENGED")
    report(world)
    assert (only(world)["status"], moved(), broken()) == ("lost", [-10_000], [])
    assert {state for state, _ in standing()} == {"applied"}


@pytest.mark.long
def test_a_loss_may_be_accepted_when_the_bank_wants_more(world: World) -> None:
    dispute = disputed(world)
    report(world)
    path = submitted(world)
    respond.send_due()
    dispute.move(*MORE_WANTED)
    report(world)
    made(world.live.post(f"{path}/accept"))
    respond.send_due()
    report(world)
    assert (response_of(world), dispute.acceptances) == (("accepted", "sent"), 1)
    assert {state for state, _ in standing()} == {"applied"}
