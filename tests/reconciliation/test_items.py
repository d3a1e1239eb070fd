"""Operators' decisions on differences, and concurrent decisions and runs."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from payments import clock
from payments.domain.reconciliation import items, matcher, runs
from payments.domain.reconciliation.items import TooLate
from payments.domain.reconciliation.runs import Busy
from payments.models import ReconciliationItem, ReconciliationRun, ReportLine
from tests.client import APPROVED, Api
from tests.concurrency import at_once
from tests.reconciliation.factories import a_difference, reconcile
from tests.simulator.factories import taken


@pytest.fixture
def item(db: None) -> ReconciliationItem:
    return a_difference()


@pytest.fixture
def operator(db: None) -> User:
    return User.objects.create(username="maria")


@pytest.mark.usefixtures("db", "noon")
def test_a_worker_reconciles_each_provider_once_a_day() -> None:
    now = clock.now()
    ReconciliationRun.objects.create(provider="adyen", started_by="worker", covers_from=now, covers_to=now)
    assert [runs.reconcile_today("simulator") for _ in range(2)] == [True, False]
    with clock.at(now + timedelta(days=1)):
        assert runs.reconcile_today("simulator")


def test_a_closed_item_is_no_open_difference_and_is_not_found_again(item: ReconciliationItem, operator: User) -> None:
    items.close(item, operator, "A test payment of the provider's, ticket 77.")
    run = reconcile(covers_from=None)
    assert (run.differences, run.new_items) == ({}, 0)
    after = ReconciliationItem.objects.get()
    assert (after.state, after.decided_by, after.note[:6]) == ("closed", operator, "A test")
    assert after.decided_at is not None


def test_a_reopened_item_is_an_open_difference_again(item: ReconciliationItem, operator: User) -> None:
    items.close(item, operator, "Theirs.")
    items.reopen(item, operator, "Not theirs after all.")
    assert reconcile().differences == {"missing_here": 1}


@pytest.mark.parametrize("note", ["", "  \n", "card 4000000000003055"])
def test_a_note_is_needed_and_holds_no_secret(note: str, item: ReconciliationItem, operator: User) -> None:
    with pytest.raises(ValidationError):
        items.close(item, operator, note)
    assert ReconciliationItem.objects.get().state == "open"


def test_an_item_is_closed_once(item: ReconciliationItem, operator: User) -> None:
    items.close(item, operator, "First.")
    with pytest.raises(TooLate):
        items.close(item, operator, "Second.")
    assert ReconciliationItem.objects.get().note == "First."


def test_an_open_item_is_not_reopened(item: ReconciliationItem, operator: User) -> None:
    with pytest.raises(TooLate):
        items.reopen(item, operator, "Why not.")


def test_the_database_closes_nothing_without_a_note(item: ReconciliationItem) -> None:
    with pytest.raises(IntegrityError, match="closed_by_operator"):
        ReconciliationItem.objects.update(state="closed")


@pytest.mark.django_db(transaction=True)
def test_of_concurrent_closings_one_succeeds(item: ReconciliationItem, operator: User) -> None:
    def close(number: int) -> bool:
        try:
            items.close(item, operator, f"By {number}.")
        except TooLate:
            return False
        return True

    assert sum(at_once(8, close)) == 1


@pytest.mark.django_db(transaction=True)
def test_concurrent_runs_store_every_line_once_and_make_one_item(api: Api) -> None:
    api.charge()
    taken(APPROVED)
    report = runs.provider_report("simulator")

    def run(_: int) -> ReconciliationRun | None:
        try:
            return runs.reconcile(report, ReconciliationRun.Origin.COMMAND)
        except Busy:
            return None

    made = [run for run in at_once(6, run) if run]
    assert made
    assert sum(run.new_lines for run in made) == ReportLine.objects.count() == 2
    assert sum(run.new_items for run in made) == ReconciliationItem.objects.count() == 1
    assert all(run.differences == {"missing_here": 1} for run in made)


@pytest.mark.django_db(transaction=True)
def test_a_run_during_another_is_refused_and_stores_nothing(api: Api) -> None:
    api.charge()
    report = runs.provider_report("simulator")
    with transaction.atomic():
        assert matcher.lock("simulator")
        with pytest.raises(Busy):
            at_once(1, lambda _: runs.reconcile(report, ReconciliationRun.Origin.COMMAND))
    assert not ReconciliationRun.objects.exists()
