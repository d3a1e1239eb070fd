"""Disputes at the fake of Xendit, from its messages, which prove nothing, to the API and the ledger."""

from random import Random

import pytest

from payments.domain.merchants.merchants import NewMerchant
from payments.domain.provider_events import apply
from payments.models import Dispute, ProviderEvent
from tests.client import error_of
from tests.ledger.books import row_of, settle
from tests.provider_events.live.world import WORLDS, World
from tests.provider_events.live.xendit_disputes import MORE_WANTED, broken, disputed, moved, only, report, reported
from tests.provider_events.live.xendit_disputes import world as world  # a fixture
from tests.provider_events.psp import apply_due, do, standing
from tests.providers.bench import Spoilt
from tests.providers.xendit.bench import XenditBench

pytestmark = pytest.mark.django_db


def test_a_dispute_takes_the_money_when_it_is_raised(world: World) -> None:
    made_there = disputed(world, category="product_not_received")
    report(world)
    dispute = only(world)
    assert (dispute["status"], dispute["reason"], dispute["amount"]) == (
        "needs_response",
        "product_not_received",
        10_000,
    )
    assert made_there.due_at.strftime("%Y-%m-%dT%H:%M:%S") in dispute["evidence_due_at"]
    assert (moved(), standing(), broken()) == ([-10_000], [("applied", "")], [])


def test_a_message_that_claims_what_xendit_does_not_say_moves_nothing(world: World) -> None:
    dispute = disputed(world)
    [(headers, body)] = reported(world)
    claimed = body.replace(b"dispute.action_required", b"dispute.won").replace(b'"ACTION_REQUIRED"', b'"WON"')
    world.announce([(headers, body), (headers, claimed)])
    assert (only(world)["status"], moved()) == ("needs_response", [-10_000])
    assert sorted(standing()) == [("applied", ""), ("waiting", "The provider does not say yet what the message says.")]
    assert dispute.status == "ACTION_REQUIRED"


@pytest.mark.long
@pytest.mark.parametrize("news", [("WON", "CHALLENGED"), ("LOST", "EXCEEDED_DEADLINE"), MORE_WANTED])
def test_an_answer_that_is_older_than_the_message_is_asked_for_again(world: World, news: tuple[str, str]) -> None:
    dispute = disputed(world)
    dispute.move("UNDER_REVIEW", None)
    report(world)
    dispute.move(*news)
    messages = reported(world)
    at_that_time = dispute.timeline.pop()
    dispute.status, dispute.reason = "UNDER_REVIEW", None
    world.announce(messages)
    assert only(world)["status"] == "under_review"
    dispute.timeline.append(at_that_time)
    dispute.status, dispute.reason = news
    apply_due()
    assert only(world)["status"] in {"WON": "won", "LOST": "lost", "ACTION_REQUIRED": "needs_response"}[news[0]]
    assert {state for state, _ in standing()} == {"applied"}


def test_a_message_that_names_the_dispute_of_another_charge_moves_that_one(world: World) -> None:
    other = world.live.charge()
    reference = world.payment.reference
    dispute = disputed(world)
    [(headers, body)] = reported(world)
    world.announce([(headers, body.replace(dispute.of.reference.encode(), reference.encode()))])
    assert (row_of(other).amount_disputed, Dispute.objects.get().charge_id == row_of(other).pk) == (0, False)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_messages_late_repeated_and_in_any_order_move_the_money_as_if_in_order(world: World, seed: int) -> None:
    dispute, random = disputed(world), Random(seed)
    messages = reported(world)
    for status, reason in (("UNDER_REVIEW", None), MORE_WANTED, ("UNDER_REVIEW", None), ("WON", "CHALLENGED")):
        dispute.move(status, reason)
        messages += reported(world)
        if random.random() < 0.5:
            world.announce(random.choices(messages, k=2))
    random.shuffle(messages)
    world.announce(messages)
    assert (only(world)["status"], moved(), broken()) == ("won", [-10_000, 10_000], [])
    assert {state for state, _ in standing()} == {"applied"}


def test_a_lookup_that_fails_is_made_again(world: World) -> None:
    disputed(world)
    world.spoil_next(Spoilt.DOWN)
    report(world)
    assert [state for state, _ in standing()] == ["waiting"]
    assert not Dispute.objects.exists()
    apply_due()
    assert (only(world)["status"], standing()) == ("needs_response", [("applied", "")])


def test_a_dispute_of_what_others_asked_for_is_not_ours(world: World) -> None:
    dispute = disputed(world)
    dispute.of.reference = "order-7 of another program"
    report(world)
    assert [state for state, _ in standing()] == ["not_ours"]
    assert not Dispute.objects.exists()


def test_a_dispute_that_is_decided_in_part_waits_for_operators_and_gives_nothing_back(world: World) -> None:
    dispute = disputed(world)
    dispute.move("WON", "CHALLENGED", terminal="40.00")
    report(world)
    [(_, why), *_] = [each for each in standing() if each[0] == "needs_attention"]
    assert "a part" in why
    assert (only(world)["withdrawn"], moved()) == (True, [-10_000])


def test_a_dispute_that_ends_otherwise_than_is_on_record_comes_to_operators(world: World) -> None:
    dispute = disputed(world)
    dispute.move("LOST", "ARBITRATION")
    report(world)
    dispute.move("WON", "ARBITRATION")
    dispute.timeline[:] = [{"status": "WON", "timestamp": dispute.timeline[-1]["timestamp"]}]
    report(world)
    waiting = ProviderEvent.objects.get(state="waiting")
    assert waiting.why == "The provider says that the dispute is won, and it is lost on record."
    ProviderEvent.objects.filter(id=waiting.id).update(tries=apply.TRIES_MAX)
    apply_due()
    assert ProviderEvent.objects.get(id=waiting.id).state == "needs_attention"
    assert (only(world)["status"], moved()) == ("lost", [-10_000])


@pytest.mark.long
@pytest.mark.parametrize("what", ["refunded in part", "refunded", "settled"])
def test_a_charge_that_was_refunded_or_settled_is_disputed_all_the_same(world: World, what: str) -> None:
    charge = world.live.charge()
    if what == "settled":
        settle()
    else:
        do(world.live, charge, "refund", amount=4_000 if what == "refunded in part" else 10_000)
        world.happen()
    dispute = disputed(world, charge)
    report(world)
    assert moved() == [-10_000]
    dispute.move("WON", "WITHDRAWN")
    report(world)
    assert (only(world)["status"], moved(), broken()) == ("won", [-10_000, 10_000], [])


@pytest.mark.parametrize("provider", WORLDS)
def test_disputed_money_is_not_refunded_and_a_disputed_charge_not_voided(provider: str, shop: NewMerchant) -> None:
    with WORLDS[provider](shop) as world:
        charge = world.live.charge()
        world.bench.begin_dispute(world.payment)
        if isinstance(world.bench, XenditBench):
            report(world)
        else:
            world.happen()
        codes = [error_of(world.live.post(f"/charges/{charge['id']}/{verb}"))["code"] for verb in ("refund", "void")]
        assert (codes, world.money.returned) == (["charge_not_refundable", "charge_not_voidable"], 0)
