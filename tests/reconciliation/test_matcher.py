"""Matching of reports with real postings, and every kind of difference."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.core import serializers
from pytest_django.fixtures import Settings

from payments import clock
from payments.domain.charging import attempts, record_outcome, recovery
from payments.domain.shared.caller import Caller
from payments.models import Attempt, Charge, Event, Posting, ReconciliationItem, ReportLine
from payments.providers.base import Declined, WebhookEvent
from payments.providers.references import FollowUp
from payments.providers.simulator.operations import settle_due_refunds
from payments.tasks import run_sweep
from tests.charging.elapsed_time import arrive_late, recover
from tests.client import APPROVED, NEVER_ARRIVES, REFUNDS_FAIL, REFUNDS_WAIT, Api, made
from tests.reconciliation.factories import Tamper, export, kinds, pay_in_every_way, reconcile, reconcile_file, tampered
from tests.simulator.factories import simulator, taken

pytestmark = pytest.mark.django_db


def money() -> str:
    """Return everything that reconciliation must not change."""
    models = (Charge, Attempt, Posting, Event)
    return "".join(serializers.serialize("json", model.objects.order_by("pk")) for model in models)


def test_books_with_payments_of_every_kind_match(api: Api) -> None:
    pay_in_every_way(api)
    run = reconcile()
    assert set(ReportLine.objects.values_list("kind", flat=True)) == {"capture", "void", "refund", "refund_returned"}
    assert (run.matched, run.under_way, run.differences) == (run.lines, 0, {})
    assert run.lines == run.new_lines == ReportLine.objects.filter(posting__isnull=False).count() == 15


def test_the_simulators_own_file_matches_too(api: Api, tmp_path: Path) -> None:
    pay_in_every_way(api)
    run = reconcile_file(export(tmp_path / "report.csv"))
    assert (run.matched, run.differences) == (15, {})


def test_the_same_report_twice_stores_nothing_twice(api: Api, tmp_path: Path) -> None:
    api.charge()
    path = export(tmp_path / "report.csv")
    first, second = reconcile_file(path), reconcile_file(path)
    assert (first.new_lines, second.new_lines, second.lines, second.matched) == (1, 0, 1, 1)
    assert ReportLine.objects.count() == 1


def test_a_hold_has_moved_no_money(api: Api) -> None:
    api.held()
    assert (reconcile().lines, kinds()) == (0, [])


def test_an_unknown_payment_is_missing_here(api: Api) -> None:
    api.charge()
    unknown = taken(APPROVED)
    assert reconcile().differences == {"missing_here": 1}
    item = ReconciliationItem.objects.get()
    assert (item.line.reference, item.attempt, item.charge, item.posting) == (unknown.reference, None, None, None)


def test_money_of_a_failed_attempt_is_missing_here(api: Api) -> None:
    charge = api.charge(NEVER_ARRIVES)
    recover()
    arrive_late(Attempt.objects.get())
    assert (api.read(charge)["status"], reconcile().differences) == ("failed", {"missing_here": 1})
    assert ReconciliationItem.objects.get().charge == Charge.objects.get()


def test_late_money_that_was_given_back_matches(api: Api) -> None:
    api.charge(NEVER_ARRIVES)
    recover()
    recovery.apply_event(arrive_late(Attempt.objects.get()))
    recover()
    assert (reconcile().matched, kinds()) == (2, [])


def test_refunded_late_money_matches_by_the_providers_reference(api: Api) -> None:
    api.charge(NEVER_ARRIVES)
    recover()
    recovery.apply_event(arrive_late(Attempt.objects.get()))
    reversal = attempts.reload(Attempt.objects.get(kind="reverse"))
    outcome = simulator.refund(attempts.follow_up(reversal, FollowUp.REFUND))
    record_outcome.record(Caller.service(reversal.charge), reversal, outcome)
    assert (reconcile().matched, kinds()) == (2, [])
    assert ReportLine.objects.get(kind="refund").attempt == reversal


def test_a_posting_without_a_line_is_missing_there(api: Api, tmp_path: Path) -> None:
    api.charge()
    gone = api.charge()
    path = tampered(tmp_path / "report.csv", lambda rows: rows.pop())
    assert reconcile_file(path).differences == {"missing_there": 1}
    item = ReconciliationItem.objects.get()
    assert f"ch_{item.charge_id.hex}" == gone["id"]
    assert item.line is None


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"amount": "99.99"}, "amount_differs"),
        ({"currency": "USD"}, "currency_differs"),
        ({"currency": "USD", "amount": "7.00"}, "currency_differs"),
        ({"type": "void"}, "kind_differs"),
        ({"type": "refund", "amount": "1.00"}, "kind_differs"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else value,
)
def test_a_line_with_another_value_differs(changes: dict[str, str], kind: str, api: Api, tmp_path: Path) -> None:
    charge = api.charge()
    path = tampered(tmp_path / "report.csv", lambda rows: rows[0].update(changes))
    assert reconcile_file(path).differences == {kind: 1}
    item = ReconciliationItem.objects.get()
    assert f"ch_{item.charge_id.hex}" == charge["id"]
    assert item.posting == Posting.objects.get(account="provider_receivable")


def test_money_that_was_taken_twice_is_reported_twice_beside_its_posting(api: Api, tmp_path: Path) -> None:
    api.charge()
    path = tampered(tmp_path / "report.csv", lambda rows: rows.append(rows[0] | {"simulator_reference": "sp_2"}))
    run = reconcile_file(path)
    assert (run.lines, run.matched, run.differences) == (2, 1, {"reported_twice": 1})
    item = ReconciliationItem.objects.get()
    assert item.posting == Posting.objects.get(account="provider_receivable")
    assert item.posting.report_line != item.line


def test_a_line_without_our_reference_matches_by_the_providers(api: Api, tmp_path: Path) -> None:
    pay_in_every_way(api)
    path = tampered(tmp_path / "report.csv", lambda rows: [row.update(reference="") for row in rows])
    assert reconcile_file(path).differences == {}


def test_a_line_without_a_reference_that_we_know_is_missing_here(api: Api, tmp_path: Path) -> None:
    api.charge()
    unknown = {"reference": "", "simulator_reference": "sp_unknown"}
    path = tampered(tmp_path / "report.csv", lambda rows: rows[0].update(unknown))
    assert reconcile_file(path).differences == {"missing_here": 1, "missing_there": 1}


def test_a_refund_whose_outcome_is_open_is_under_way_and_matches_later(api: Api) -> None:
    charge = api.charge(REFUNDS_WAIT)
    made(api.post(f"/charges/{charge['id']}/refund"))
    before = reconcile()
    assert (before.matched, before.under_way, before.differences) == (1, 1, {})
    run_sweep("apply_simulator_messages")
    assert reconcile(lines=[]).differences == {}
    assert not ReportLine.objects.filter(posting=None).exists()


def test_a_refund_that_was_returned_before_we_knew_it_cancels_out(api: Api, tmp_path: Path) -> None:
    """The provider reports both movements, our ledger neither."""
    charge = api.charge(REFUNDS_WAIT)
    made(api.post(f"/charges/{charge['id']}/refund", {"amount": 1_000}))
    path = tampered(tmp_path / "report.csv", lambda rows: rows.append(rows[1] | {"type": "refund_returned"}))
    attempt = Attempt.objects.get(kind="refund")
    recovery.apply_event(WebhookEvent(attempt.reference, Declined("processing_error")))
    run = reconcile_file(path)
    assert (run.matched, run.differences) == (3, {})


def test_a_recent_movement_is_left_to_the_next_report(api: Api, tmp_path: Path, settings: Settings) -> None:
    settings.RECONCILIATION_MARGIN_MINUTES = 60
    api.charge()
    api.charge()
    assert reconcile_file(tampered(tmp_path / "report.csv", lambda rows: rows.pop())).differences == {}


def test_a_return_that_may_still_be_reported_is_under_way(api: Api, settings: Settings) -> None:
    charge = api.charge(REFUNDS_FAIL)
    made(api.post(f"/charges/{charge['id']}/refund"))
    settle_due_refunds(1)
    settings.RECONCILIATION_MARGIN_MINUTES = 60
    run = reconcile()
    assert (run.matched, run.under_way, run.differences) == (2, 1, {})
    settings.RECONCILIATION_MARGIN_MINUTES = 0
    assert reconcile(lines=[]).differences == {"missing_here": 1}


def test_a_contradiction_is_a_difference_at_once(api: Api, tmp_path: Path, settings: Settings) -> None:
    settings.RECONCILIATION_MARGIN_MINUTES = 60
    api.charge()
    path = tampered(tmp_path / "report.csv", lambda rows: rows[0].update(type="void"))
    assert reconcile_file(path).differences == {"kind_differs": 1}


def test_a_posting_outside_the_covered_period_is_not_missing_there(api: Api) -> None:
    api.charge()
    now = clock.now()
    assert reconcile(lines=[], covers_from=now - timedelta(days=2), covers_to=now - timedelta(days=1)).differences == {}
    assert reconcile(lines=[], covers_from=now - timedelta(days=1), covers_to=now).differences == {"missing_there": 1}


def test_a_difference_that_is_found_again_is_the_same_item(api: Api, tmp_path: Path) -> None:
    # On one day, because a file is matched with the days of its lines.
    with clock.at(clock.now() - timedelta(minutes=1)):
        taken(APPROVED)
        api.charge()
    path = tampered(tmp_path / "report.csv", lambda rows: rows.pop())
    first, second = reconcile_file(path), reconcile_file(path)
    assert (first.new_items, second.new_items) == (2, 0)
    assert first.differences == second.differences == {"missing_here": 1, "missing_there": 1}


def test_an_item_whose_line_came_later_says_so_and_stays_open(api: Api, tmp_path: Path) -> None:
    api.charge()
    api.charge()
    path = export(tmp_path / "whole.csv")
    reconcile_file(tampered(tmp_path / "report.csv", lambda rows: rows.pop()))
    assert reconcile_file(path).differences == {}
    item = ReconciliationItem.objects.get()
    assert (item.kind, item.state) == ("missing_there", "open")
    assert item.vanished_at is not None


def test_the_right_line_after_a_wrong_one_leaves_the_wrong_one_reported_twice(api: Api, tmp_path: Path) -> None:
    """Both lines were reported, so the provider may have taken both amounts."""
    api.charge()
    path = export(tmp_path / "right.csv")
    reconcile_file(tampered(tmp_path / "wrong.csv", lambda rows: rows[0].update(amount="1.00")))
    assert reconcile_file(path).differences == {"reported_twice": 1}
    assert ReconciliationItem.objects.get(kind="amount_differs").vanished_at is not None


TAMPERS: dict[str, Tamper] = {
    "gone": lambda rows: rows.pop(),
    "amount": lambda rows: rows[0].update(amount="1.00"),
    "currency": lambda rows: rows[0].update(currency="JPY", amount="100"),
    "reference": lambda rows: rows[0].update(reference="0" * 32),
}


@pytest.mark.long
@pytest.mark.parametrize("tamper", TAMPERS.values(), ids=TAMPERS.keys())
def test_nothing_is_corrected(tamper: Tamper, api: Api, tmp_path: Path) -> None:
    pay_in_every_way(api)
    before = money()
    assert reconcile_file(tampered(tmp_path / "report.csv", tamper)).differences
    assert money() == before
