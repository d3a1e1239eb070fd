"""An item never says "not in ledger" beside a posting that is there."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from payments import clock
from payments.domain.charging import recovery
from payments.domain.reconciliation import matcher, runs
from payments.models import Attempt, Posting, ReconciliationItem, ReportLine
from tests.admin.conftest import text_of, the_operator
from tests.admin.test_pages import list_of, page_of
from tests.charging.elapsed_time import arrive_late, recover
from tests.client import NEVER_ARRIVES, Api, signed_in
from tests.reconciliation.factories import kinds, reconcile, reconcile_file, tampered

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator() -> Client:
    return signed_in(the_operator())


@pytest.fixture
def item(api: Api) -> ReconciliationItem:
    """Return the item of money that the provider took, and of which we do not know yet."""
    api.charge(NEVER_ARRIVES)
    recover()
    arrive_late(Attempt.objects.get())
    reconcile()
    return ReconciliationItem.objects.get(kind="missing_here")


def post_late(item: ReconciliationItem) -> Posting:
    """Let the provider's word about the money arrive after the report; return its posting."""
    recovery.apply_event(arrive_late(Attempt.objects.get(pk=item.attempt_id)))
    return Posting.objects.get(account="provider_receivable", kind="late")


def test_the_worker_matches_a_posting_that_arrives_after_the_report(item: ReconciliationItem) -> None:
    posting = post_late(item)
    assert runs.recheck_arrived() == 1
    item.refresh_from_db()
    assert (item.posting, item.state) == (posting, "open")
    assert item.vanished_at
    assert item.line.matched_at
    assert str(item) == "in ledger since at simulator"
    assert kinds() == []


def test_until_the_worker_comes_the_page_shows_the_posting(item: ReconciliationItem, operator: Client) -> None:
    assert "Not in ledger" in text_of(operator.get(page_of(item)))
    posting = post_late(item)
    for address in (page_of(item), list_of(ReconciliationItem)):
        text = text_of(operator.get(address)).split('id="result_list"')[-1]
        assert ">Not in ledger<" not in text
        assert "In ledger, to be matched" in text
    assert page_of(posting) in text_of(operator.get(page_of(item)))


def test_a_recheck_leaves_other_differences_alone(api: Api, item: ReconciliationItem, tmp_path: Path) -> None:
    api.charge()
    reconcile_file(tampered(tmp_path / "report.csv", lambda rows: rows[-1].update(amount="1.00")))
    before = set(ReconciliationItem.objects.exclude(pk=item.pk).values_list("pk", "vanished_at"))
    post_late(item)
    runs.recheck_arrived()
    assert set(ReconciliationItem.objects.exclude(pk=item.pk).values_list("pk", "vanished_at")) == before


def test_without_a_new_posting_nothing_is_rechecked(item: ReconciliationItem) -> None:
    assert runs.recheck_arrived() == 0


def test_a_charge_is_rechecked_once_and_not_for_ever(item: ReconciliationItem) -> None:
    post_late(item)
    ReconciliationItem.objects.update(rechecked_at=clock.now() + timedelta(hours=1))
    assert matcher.arrived(10, clock.now()) == []


def test_the_next_run_says_the_same_as_the_recheck(item: ReconciliationItem, settings: Settings) -> None:
    post_late(item)
    runs.recheck_arrived()
    after = ReconciliationItem.objects.values_list("pk", "vanished_at", "posting")
    seen = list(after)
    reconcile()
    assert list(after) == seen
    assert not ReportLine.objects.filter(matched_at=None, attempt=item.attempt).exists()
