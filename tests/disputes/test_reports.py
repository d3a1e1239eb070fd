"""Disputes as providers report them: late, repeated, in any order, and never believed where they cannot be true."""

from dataclasses import replace
from datetime import timedelta
from itertools import permutations
from typing import Any

import pytest

from payments import clock
from payments.db.writes import StaleRow
from payments.domain.charging import attempts
from payments.domain.disputes import record
from payments.invariants.checks import check
from payments.invariants.registry import INVARIANTS
from payments.models import Attempt, Charge, Dispute, Event, Posting
from payments.providers.disputes import Disputed, Reason, Stage
from tests.client import Api
from tests.concurrency import at_once
from tests.ledger.books import row_of

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


@pytest.mark.parametrize(
    ("wrong", "why"),
    [({"currency": "USD"}, "USD"), ({"amount": 10_001}, "10001"), ({"amount": 0}, "about 0")],
)
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
