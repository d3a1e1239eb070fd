"""Disputes as providers report them, late, repeated and in any order, and where each then stands."""

from dataclasses import replace
from datetime import timedelta
from itertools import permutations
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payments import clock
from payments.db.writes import StaleRow
from payments.domain.charging import attempts
from payments.domain.disputes import record
from payments.domain.disputes.stages import RETURNS, STATUSES, TAKES, Standing, Status, held_after, standing_of
from payments.domain.merchants import terms
from payments.invariants.checks import check
from payments.invariants.registry import INVARIANTS
from payments.ledger.fees import Rate
from payments.models import Attempt, Charge, Dispute, Event, Posting
from payments.providers.disputes import Disputed, Reason, Stage
from tests.client import Api, made
from tests.concurrency import at_once
from tests.ledger.books import row_of, standing

CHARGEBACK = Disputed("D1", Stage.CHARGEBACK, 10_000, "PHP", Reason.FRAUDULENT, "10.4")


def report(charge: dict[str, Any], *reports: Disputed) -> None:
    for each in reports:
        record.record(attempts.reload(Attempt.objects.get(charge=row_of(charge), kind="authorize")), each)


def at(stage: Stage) -> Disputed:
    return replace(CHARGEBACK, stage=stage)


def broken() -> list[str]:
    return [found.invariant.name for found in map(check, INVARIANTS) if found.count]


@pytest.mark.long
@pytest.mark.parametrize(
    "order", list(permutations([Stage.INQUIRY, Stage.CHARGEBACK, Stage.REVERSED])), ids=lambda order: order[0].name
)
def test_the_order_of_reports_does_not_matter_to_the_money(api: Api, order: tuple[Stage, ...]) -> None:
    charge = api.charge()
    report(charge, *map(at, order))
    dispute = Dispute.objects.get()
    assert (dispute.status, dispute.withdrawn, row_of(charge).amount_disputed) == ("won", False, 0)
    moved = Posting.objects.filter(account="provider_receivable", kind__startswith="dispute").order_by("created_at")
    assert [row.amount for row in moved] == [-10_000, 10_000]
    assert [name for name in broken() if not name.startswith("simulator")] == []


def test_a_second_chargeback_takes_the_money_again(api: Api) -> None:
    charge = api.charge()
    report(charge, *map(at, (Stage.CHARGEBACK, Stage.REVERSED, Stage.SECOND_CHARGEBACK)))
    assert (Dispute.objects.get().status, row_of(charge).amount_disputed) == ("lost", 10_000)


def test_a_repeated_report_changes_nothing_and_makes_no_event(api: Api) -> None:
    charge = api.charge()
    report(charge, CHARGEBACK)
    events, version = Event.objects.count(), row_of(charge).version
    report(charge, CHARGEBACK, at(Stage.INQUIRY))
    assert (Event.objects.count(), row_of(charge).version, Posting.objects.filter(kind="dispute").count()) == (
        events,
        version,
        2,
    )


def test_evidence_and_deadlines_move_no_money(api: Api) -> None:
    charge = api.charge()
    report(charge, at(Stage.INQUIRY), at(Stage.EVIDENCE), at(Stage.EXPIRED))
    assert (Dispute.objects.get().status, row_of(charge).amount_disputed) == ("under_review", 0)


def test_each_step_is_an_event_of_the_dispute_and_of_its_charge(api: Api) -> None:
    charge = api.charge()
    report(charge, at(Stage.INQUIRY), CHARGEBACK, at(Stage.REVERSED))
    types = list(Event.objects.filter(type__startswith="dispute.").order_by("sequence").values_list("type", flat=True))
    assert types == ["dispute.created", "dispute.updated", "dispute.closed"]
    newest = Event.objects.filter(object_id=row_of(charge).pk).latest("sequence")
    assert (newest.type, b'"disputed":true' in bytes(newest.payload)) == ("charge.updated", True)


def test_two_disputes_of_one_charge_are_apart(api: Api) -> None:
    charge = api.charge()
    report(charge, replace(CHARGEBACK, amount=4_000), replace(CHARGEBACK, provider_ref="D2", amount=6_000))
    assert (Dispute.objects.count(), row_of(charge).amount_disputed) == (2, 10_000)


def test_the_deadline_and_the_reference_are_kept_from_whichever_report_has_them(api: Api) -> None:
    charge, due = api.charge(), clock.now() + timedelta(days=7)
    report(charge, replace(at(Stage.INQUIRY), evidence_due_at=due, network_ref="ARN7"), CHARGEBACK)
    dispute = Dispute.objects.get()
    assert (dispute.evidence_due_at, dispute.network_ref) == (due, "ARN7")


def shown(api: Api) -> tuple[Any, ...]:
    """Return what the API says of each dispute: how it stands, of how much, and what was taken."""
    listed = api.get("/disputes/").json()["data"]
    return tuple((each["status"], each["amount"], each["currency"], each["amount_withdrawn"]) for each in listed)


def balance(api: Api) -> int:
    return int(api.get("/balance").json()["pending"][0]["amount"])


LATER_STAGES: dict[str, tuple[list[tuple[Stage, int]], str, int]] = {
    "a part comes back": ([(Stage.REVERSED, 4_000)], "won", 6_000),
    "a part is taken again": ([(Stage.REVERSED, 10_000), (Stage.SECOND_CHARGEBACK, 4_000)], "lost", 4_000),
    "the rest comes back": ([(Stage.REVERSED, 4_000), (Stage.WON_FINALLY, 10_000)], "won", 0),
    "the bank asks before it takes again": ([(Stage.REVERSED, 10_000), (Stage.PREARBITRATION, 10_000)], "", 0),
    "the network decides": ([(Stage.ARBITRATION, 10_000), (Stage.ARBITRATION_WON, 7_000)], "won", 3_000),
}


@pytest.mark.parametrize("name", LATER_STAGES)
def test_each_later_stage_moves_what_its_report_says_whatever_the_order(api: Api, name: str) -> None:
    later, status, taken = LATER_STAGES[name]
    stages = [(Stage.CHARGEBACK, 10_000), *later]
    for order in (stages, stages[::-1]):
        charge = api.charge()
        before = balance(api)
        report(charge, *(replace(at(stage), amount=amount) for stage, amount in order))
        assert balance(api) - before == -taken
        assert shown(api)[0] == (status or "needs_response", 10_000, "PHP", taken)
    assert [name for name in broken() if not name.startswith("simulator")] == []


def reported(charge: dict[str, Any], dispute: Disputed) -> str:
    """Report a stage; return what operators must know of it."""
    return record.record(attempts.reload(Attempt.objects.get(charge=row_of(charge), kind="authorize")), dispute)


def test_operators_see_where_a_later_stage_differs_from_the_first(api: Api) -> None:
    charge = api.charge()
    assert reported(charge, CHARGEBACK) == ""
    assert reported(charge, replace(at(Stage.REVERSED), amount=4_000)) == (
        "This report is about ₱40.00, and the dispute about ₱100.00."
    )
    assert reported(charge, replace(at(Stage.REVERSED), amount=4_000)) == ""
    assert "reported again" in reported(charge, replace(at(Stage.REVERSED), amount=5_000))
    assert row_of(charge).amount_disputed == 6_000


def test_operators_see_that_a_bank_asks_before_arbitration_after_it_took_the_money_again(api: Api) -> None:
    charge = api.charge()
    stages = (Stage.CHARGEBACK, Stage.REVERSED, Stage.PREARBITRATION, Stage.SECOND_CHARGEBACK)
    assert {reported(charge, at(stage)) for stage in stages} == {""}
    assert "asks before arbitration" in reported(charge, at(Stage.PREARBITRATION))
    assert Dispute.objects.get().status == "lost"


def test_a_chargeback_of_more_than_was_captured_takes_that_and_operators_see_the_rest(api: Api) -> None:
    charge = api.charge()
    assert "has ₱103.50, of which ₱100.00 is posted" in reported(charge, replace(CHARGEBACK, amount=10_350))
    assert shown(api) == (("needs_response", 10_350, "PHP", 10_000),)
    assert reported(charge, replace(at(Stage.REVERSED), amount=10_350)) == ""
    assert (shown(api)[0][0], row_of(charge).amount_disputed, balance(api)) == ("won", 0, 10_000)


def test_a_chargeback_in_another_currency_is_a_dispute_whose_money_is_for_operators(api: Api) -> None:
    charge = api.charge()
    assert "in USD, and the charge in PHP: nothing" in reported(charge, replace(CHARGEBACK, amount=172, currency="USD"))
    assert shown(api) == (("needs_response", 172, "USD", 0),)
    assert (balance(api), [name for name in broken() if not name.startswith("simulator")]) == (10_000, [])


def test_all_disputes_of_a_charge_take_no_more_than_was_captured(api: Api) -> None:
    charge = api.charge()
    assert reported(charge, replace(CHARGEBACK, amount=6_000)) == ""
    assert "of which ₱40.00 is posted" in reported(charge, replace(CHARGEBACK, provider_ref="D2", amount=6_000))
    assert (balance(api), row_of(charge).amount_disputed) == (0, 10_000)
    assert [name for name in broken() if not name.startswith("simulator")] == []


def test_what_comes_back_of_one_dispute_makes_room_for_what_the_bank_has_by_another(api: Api) -> None:
    charge = api.charge()
    report(charge, *(replace(CHARGEBACK, provider_ref=name, amount=6_000) for name in ("D1", "D2")))
    events = Event.objects.filter(type="dispute.updated").count()
    assert reported(charge, replace(at(Stage.REVERSED), amount=6_000)) == ""
    assert [each[3] for each in shown(api)] == [6_000, 0]
    assert (balance(api), row_of(charge).amount_disputed) == (4_000, 6_000)
    assert Event.objects.filter(type="dispute.updated").count() == events + 1
    report(charge, replace(at(Stage.REVERSED), provider_ref="D2", amount=6_000))
    assert (balance(api), [name for name in broken() if not name.startswith("simulator")]) == (10_000, [])


def test_the_fee_is_posted_once_whatever_part_comes_back(api: Api) -> None:
    charge = api.charge()
    terms.set_fee(row_of(charge).merchant, "dispute", "PHP", Rate(fixed=750))
    fees = []
    for stage, amount in [(30, 10_000), (70, 4_000), (80, 4_000), (110, 10_000)]:
        report(charge, replace(at(Stage(stage)), amount=amount))
        fees.append((api.get("/disputes/").json()["data"][0]["fee"], -standing(charge=row_of(charge)).get("fees", 0)))
    assert fees == [(750, 750)] * 3 + [(0, 0)]


def test_a_bank_that_asks_before_arbitration_has_its_own_deadline_and_response(api: Api) -> None:
    charge, over = api.charge(), clock.now() - timedelta(days=1)
    report(charge, replace(CHARGEBACK, evidence_due_at=over), at(Stage.EVIDENCE), at(Stage.REVERSED))
    report(charge, at(Stage.PREARBITRATION))
    path = f"/disputes/{Dispute.objects.get()}"
    assert made(api.get(path)).get("evidence_due_at") is None
    made(api.post(f"{path}/evidence", {"type": "other", "text": "Delivered"}))
    made(api.post(f"{path}/submit"))
    report(charge, at(Stage.EVIDENCE), at(Stage.EVIDENCE_AGAIN))
    assert made(api.get(path))["response"]["status"] == "pending"
    report(charge, at(Stage.PREARBITRATION_ANSWERED))
    after = made(api.get(path))
    assert (after["status"], after["withdrawn"], after["response"]["status"]) == ("under_review", False, "sent")


@pytest.mark.parametrize(("wrong", "why"), [({"currency": "XYQ"}, "XYQ"), ({"amount": 0}, "about 0")])
def test_a_report_that_contradicts_the_charge_moves_nothing(api: Api, wrong: dict[str, Any], why: str) -> None:
    charge = api.charge()
    with pytest.raises(record.CannotBeTrue, match=why):
        report(charge, replace(CHARGEBACK, **wrong))
    assert not Dispute.objects.exists()


def test_a_report_that_others_overtake_at_every_try_is_reported_again(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stale(*writes: object) -> None:
        raise StaleRow

    charge = api.charge()
    monkeypatch.setattr(record, "execute_writes", stale)
    with pytest.raises(StaleRow):
        report(charge, CHARGEBACK)


def test_a_charge_whose_money_was_never_taken_is_not_disputed(api: Api) -> None:
    with pytest.raises(record.CannotBeTrue, match="held"):
        report(api.held(), CHARGEBACK)


def test_a_dispute_waits_for_a_void_under_way(api: Api) -> None:
    charge = api.charge()
    Charge.objects.update(operation="void")
    with pytest.raises(record.NotNow):
        report(charge, CHARGEBACK)


@pytest.mark.django_db(transaction=True)
def test_one_of_many_reports_at_once_is_recorded(api: Api) -> None:
    charge = api.charge()
    at_once(6, lambda _: report(charge, CHARGEBACK))
    assert (Dispute.objects.count(), row_of(charge).amount_disputed) == (1, 10_000)
    assert Posting.objects.filter(kind="dispute").count() == 2


STAGES = st.lists(st.sampled_from(Stage), min_size=1, max_size=12)


@given(STAGES, st.randoms())
def test_the_order_and_the_number_of_reports_do_not_matter(stages: list[Stage], random: Random) -> None:
    shuffled = stages * 2
    random.shuffle(shuffled)
    assert standing_of(shuffled) == standing_of(stages)


@given(STAGES)
def test_a_dispute_never_goes_back(stages: list[Stage]) -> None:
    standing = standing_of(stages[:1])
    for stage in stages:
        after = standing.after(stage)
        assert (after.stage, after.money_stage) >= (standing.stage, standing.money_stage)
        standing = after


@given(STAGES)
def test_a_dispute_that_is_won_leaves_the_money_and_a_lost_one_does_not(stages: list[Stage]) -> None:
    standing = standing_of(stages)
    if standing.status in (Status.WON, Status.WARNING):
        assert not standing.withdrawn
    # Before arbitration the bank asks, and may have the money or not.
    if standing.status == Status.LOST or (standing.status == Status.NEEDS_RESPONSE and standing.stage < Stage.REVERSED):
        assert standing.withdrawn


@given(STAGES)
def test_what_moves_no_money_changes_nothing_of_it(stages: list[Stage]) -> None:
    moving = [stage for stage in stages if stage in TAKES | RETURNS]
    assert standing_of(stages).withdrawn == (bool(moving) and max(moving) in TAKES)


AMOUNTS = st.dictionaries(st.sampled_from(sorted(TAKES | RETURNS)), st.integers(1, 10_000), min_size=1)


@given(AMOUNTS)
def test_a_bank_never_has_more_than_it_took_at_once_nor_less_than_nothing(amounts: dict[int, int]) -> None:
    taken = [amount for stage, amount in amounts.items() if stage in TAKES]
    assert 0 <= held_after(amounts) <= max(taken, default=0)


@given(AMOUNTS, st.integers(1, 10_000))
def test_of_whole_amounts_a_bank_has_all_or_nothing(amounts: dict[int, int], whole: int) -> None:
    assert held_after(dict.fromkeys(amounts, whole)) == (whole if max(amounts) in TAKES else 0)


@pytest.mark.parametrize(
    ("amounts", "held"),
    [
        ({Stage.CHARGEBACK: 10, Stage.REVERSED: 4}, 6),
        ({Stage.CHARGEBACK: 10, Stage.REVERSED: 10, Stage.SECOND_CHARGEBACK: 4}, 4),
        ({Stage.CHARGEBACK: 10, Stage.REVERSED: 4, Stage.SECOND_CHARGEBACK: 4}, 10),
        ({Stage.CHARGEBACK: 10, Stage.REVERSED: 10, Stage.SECOND_CHARGEBACK: 12}, 12),
        # The issuer withdraws what it asked for after the reversal, and does not return that once more.
        ({Stage.CHARGEBACK: 10, Stage.REVERSED: 4, Stage.WON_FINALLY: 4}, 6),
        ({Stage.CHARGEBACK: 10, Stage.REVERSED: 4, Stage.WON_FINALLY: 10}, 0),
        ({Stage.CHARGEBACK: 10, Stage.REVERSED: 10, Stage.LOST_FINALLY: 10}, 10),
        ({Stage.CHARGEBACK: 10, Stage.REVERSED: 10, Stage.SECOND_CHARGEBACK: 4, Stage.LOST_FINALLY: 4}, 4),
        # A reversal that nobody reported.
        ({Stage.CHARGEBACK: 10, Stage.SECOND_CHARGEBACK: 4}, 10),
        ({Stage.REVERSED: 4}, 0),
    ],
    ids=str,
)
def test_each_stage_moves_the_amount_that_its_report_says(amounts: dict[int, int], held: int) -> None:
    assert held_after(amounts) == held


def test_every_stage_has_a_status_and_every_status_a_stage() -> None:
    assert set(STATUSES) == set(Stage)
    assert set(STATUSES.values()) == set(Status)
    assert Standing(Stage.INQUIRY).withdrawn is False
