"""Reports of live providers, and their match with our ledger."""

from pathlib import Path

import pytest

from payments.domain.charging import attempts
from payments.domain.disputes import record as disputes
from payments.models import Attempt, Posting, ReconciliationItem, ReportLine
from payments.providers.disputes import Disputed, Stage
from tests.client import Api, made
from tests.reconciliation.factories import kinds
from tests.reconciliation.live.reports import CHARGEBACK, DEBIT, PROVIDERS, REFUND, TAKEN_BACK, reconcile

pytestmark = pytest.mark.django_db


def paid_by(api: Api, provider: str) -> None:
    """Make a payment by `provider` refunded in part, and a hold captured in part."""
    charge, held = api.charge(), api.held()
    made(api.post(f"/charges/{charge['id']}/refund", {"amount": 1_000}))
    made(api.post(f"/charges/{held['id']}/capture", {"amount": 6_000}))
    Attempt.objects.update(provider=provider)


def all_rows(provider: str) -> list[dict[str, str]]:
    """Return the rows with which `provider` reports these payments."""
    taken, held = Attempt.objects.filter(kind="authorize").order_by("id")
    refund, capture = (Attempt.objects.get(kind=kind).reference for kind in ("refund", "capture"))
    if provider == "xendit":
        captured = {"Reference": held.reference, "Amount": "60.00"}
        return [{"Reference": taken.reference}, captured, REFUND | {"Reference": refund, "Amount": "10.00"}]
    modification = "Modification Merchant Reference"
    return [
        {"Merchant Reference": taken.reference},
        {"Merchant Reference": held.reference, modification: f"capture-{capture}", "Gross Credit (GC)": "60.00"},
        {"Merchant Reference": taken.reference, modification: f"refund-{refund}", "Type": "Refunded", **DEBIT},
    ]


@PROVIDERS
def test_a_report_of_what_we_booked_matches_line_by_line(api: Api, provider: str, tmp_path: Path) -> None:
    paid_by(api, provider)
    run = reconcile(tmp_path, provider, *all_rows(provider))
    assert (run.matched, run.lines, kinds()) == (3, 3, [])


@PROVIDERS
def test_a_missing_line_is_no_difference(api: Api, provider: str, tmp_path: Path) -> None:
    paid_by(api, provider)
    run = reconcile(tmp_path, provider, all_rows(provider)[0])
    # Such a report is complete for no period.
    assert (kinds(), run.covers_from) == ([], run.covers_to)


def test_a_chargeback_without_a_message_is_not_in_the_ledger(api: Api, tmp_path: Path) -> None:
    paid_by(api, "adyen")
    taken = Attempt.objects.filter(kind="authorize").earliest("id")
    of_taken = {"Merchant Reference": taken.reference}
    reconcile(tmp_path, "adyen", *all_rows("adyen"), CHARGEBACK | of_taken, CHARGEBACK | of_taken | {"Type": "New"})
    items = ReconciliationItem.objects.order_by("line__number")
    assert [(item.kind, item.line.word, item.charge_id) for item in items if item.line] == [
        ("missing_here", "Chargeback", taken.charge_id),
        ("kind_differs", "New", taken.charge_id),
    ]


def test_a_chargeback_and_its_reversal_match_the_postings_of_the_dispute(api: Api, tmp_path: Path) -> None:
    paid_by(api, "adyen")
    taken = Attempt.objects.filter(kind="authorize").earliest("id")
    for stage in (Stage.CHARGEBACK, Stage.REVERSED):
        disputes.record(attempts.reload(taken), Disputed("PSP9", stage, 1_000, "PHP"))
    of_taken = {"Merchant Reference": taken.reference}
    back = {"Type": "ChargebackReversed", "Gross Credit (GC)": "10.00"}
    run = reconcile(tmp_path, "adyen", *all_rows("adyen"), CHARGEBACK | of_taken, back | of_taken)
    assert (run.matched, kinds()) == (run.lines, [])


# Whose name a chargeback has in Xendit's report is not documented.
NAMED = {
    "our reference": ("Reference", "ours"),
    "the dispute as its reference": ("Reference", "mi-dspt-1"),
    "the dispute as its product": ("Product ID", "mi-dspt-1"),
}


def chargebacks(named: tuple[str, str], taken: Attempt) -> list[dict[str, str]]:
    """Return the rows of a chargeback and of its return, which Xendit names in some way."""
    column, name = named
    names = {"Reference": "", "Product ID": "", column: taken.reference if name == "ours" else name}
    back = {"Transaction Type": "CHARGEBACK_REVERSAL", "Transaction ID": "txn_3"}
    return [TAKEN_BACK | names | {"Transaction ID": "txn_2"}, back | names]


@pytest.mark.long
@pytest.mark.parametrize("named", NAMED.values(), ids=NAMED)
@pytest.mark.parametrize("is_report_first", [False, True], ids=["message first", "report first"])
def test_a_dispute_by_message_and_report_is_posted_once_in_either_order(
    api: Api, named: tuple[str, str], is_report_first: bool, tmp_path: Path
) -> None:
    api.charge()
    Attempt.objects.update(provider="xendit")
    taken = Attempt.objects.get()
    rows = [{"Reference": taken.reference}, *chargebacks(named, taken)]
    if is_report_first:
        reconcile(tmp_path, "xendit", *rows)
        assert set(kinds()) == {"missing_here"}
    for stage in (Stage.CHARGEBACK, Stage.REVERSED):
        disputes.record(attempts.reload(taken), Disputed("mi-dspt-1", stage, 10_000, "PHP"))
    reconcile(tmp_path, "xendit", *rows)
    assert not ReconciliationItem.objects.filter(vanished_at=None).exists()
    moved = Posting.objects.filter(account="provider_receivable", kind__startswith="dispute").order_by("created_at")
    assert [row.amount for row in moved] == [-10_000, 10_000]
    assert ReportLine.objects.filter(posting__isnull=False).count() == len(rows)


def test_a_chargeback_with_xendits_fee_in_it_is_left_to_operators(api: Api, tmp_path: Path) -> None:
    api.charge()
    Attempt.objects.update(provider="xendit")
    taken = Attempt.objects.get()
    disputes.record(attempts.reload(taken), Disputed("mi-dspt-1", Stage.CHARGEBACK, 10_000, "PHP"))
    reconcile(
        tmp_path,
        "xendit",
        {"Reference": taken.reference},
        TAKEN_BACK | {"Reference": taken.reference, "Amount": "115.00"},
    )
    assert kinds() == ["amount_differs"]


BY_HAND = {"Type": "Refunded", "Modification Merchant Reference": "goodwill, ticket 77", **DEBIT}


@pytest.mark.parametrize("is_capture_reported", [True, False], ids=["after its capture", "alone"])
def test_a_refund_by_hand_at_the_provider_is_not_in_the_ledger_and_names_its_charge(
    api: Api, is_capture_reported: bool, tmp_path: Path
) -> None:
    api.charge()
    Attempt.objects.update(provider="adyen")
    taken = Attempt.objects.get()
    of_taken = {"Merchant Reference": taken.reference}
    reconcile(tmp_path, "adyen", *[of_taken] * is_capture_reported, of_taken | BY_HAND)
    item = ReconciliationItem.objects.get()
    assert (item.kind, item.charge_id, item.posting) == ("missing_here", taken.charge_id, None)


def test_a_refund_under_its_payments_name_is_found_by_the_providers_own(api: Api, tmp_path: Path) -> None:
    paid_by(api, "adyen")
    Attempt.objects.filter(kind="refund").update(provider_ref="PSP7")
    taken, held, refund = all_rows("adyen")
    run = reconcile(
        tmp_path,
        "adyen",
        taken,
        held,
        refund | {"Modification Merchant Reference": "by hand", "Modification Reference": "PSP7"},
    )
    assert (run.matched, kinds()) == (3, [])


@pytest.mark.parametrize("name", ["", "till 7", "=cmd", "<auto>"])
def test_a_payment_whose_name_was_lost_is_found_by_the_providers_own(api: Api, name: str, tmp_path: Path) -> None:
    api.charge()
    Attempt.objects.update(provider="adyen", provider_ref="PSP8")
    names = {"Merchant Reference": name, "Psp Reference": "PSP8", "Modification Merchant Reference": "<auto>"}
    assert (reconcile(tmp_path, "adyen", names).matched, kinds()) == (1, [])


def test_a_chargeback_under_a_name_that_is_none_of_ours_matches_its_dispute(api: Api, tmp_path: Path) -> None:
    api.charge()
    Attempt.objects.update(provider="adyen")
    taken = Attempt.objects.get()
    disputes.record(attempts.reload(taken), Disputed("PSP9", Stage.CHARGEBACK, 1_000, "PHP"))
    names = {"Merchant Reference": taken.reference, "Modification Merchant Reference": "Visa dispute 4711"}
    assert (reconcile(tmp_path, "adyen", names, CHARGEBACK | names).matched, kinds()) == (2, [])


def test_equal_rows_of_a_payment_match_once_and_are_reported_twice(api: Api, tmp_path: Path) -> None:
    paid_by(api, "adyen")
    rows = all_rows("adyen")
    run = reconcile(tmp_path, "adyen", *rows, rows[0], rows[0])
    assert (run.lines, run.matched, kinds()) == (5, 3, ["reported_twice"] * 2)
    again = reconcile(tmp_path, "adyen", *rows, rows[0], rows[0])
    assert (again.new_lines, again.new_items) == (0, 0)
