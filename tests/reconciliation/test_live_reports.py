"""Reports of live providers in their documented layouts: their lines, and their match with our ledger."""

import csv
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from payments.domain.charging import attempts
from payments.domain.disputes import record as disputes
from payments.domain.reconciliation import files, runs
from payments.domain.reconciliation.files import BadReport
from payments.domain.reconciliation.layouts import LAYOUTS
from payments.models import Attempt, ReconciliationItem, ReconciliationRun
from payments.providers.disputes import Disputed, Stage
from payments.providers.settlement_reports import Movement, SettlementLine
from tests.client import Api, made
from tests.reconciliation.factories import COMMAND, kinds

# A header as each documents it, and a row of a payment that was taken at once.
ADYEN = [
    "Company Account",
    "Merchant Account",
    "Psp Reference",
    "Merchant Reference",
    "Payment Method",
    "Creation Date",
    "TimeZone",
    "Type",
    "Modification Reference",
    "Gross Currency",
    "Gross Debit (GC)",
    "Gross Credit (GC)",
    "Exchange Rate",
    "Net Currency",
    "Net Debit (NC)",
    "Net Credit (NC)",
    "Commission (NC)",
    "Markup (NC)",
    "Scheme Fees (NC)",
    "Interchange (NC)",
    "Payment Method Variant",
    "Modification Merchant Reference",
    "Batch Number",
]
XENDIT = [
    "Product ID",
    "Transaction ID",
    "Transaction Type",
    "Line Type",
    "Payment Channel",
    "Reference",
    "Currency",
    "Amount",
    "Balance",
    "Debit or Credit",
    "Created Date ISO",
    "Time Zone",
]
SETTLED = {
    "Psp Reference": "PSP1",
    "Merchant Reference": "0190a1fc472ce874b1b67520502f7850",
    "Creation Date": "2026-11-20 13:30:59",
    "TimeZone": "CET",
    "Type": "Settled",
    "Modification Reference": "PSP2",
    "Gross Currency": "PHP",
    "Gross Credit (GC)": "100.00",
    "Net Currency": "EUR",
    "Net Credit (NC)": "1.50",
}
PAID = {
    "Product ID": "py-1",
    "Transaction ID": "txn_1",
    "Transaction Type": "PAYMENT",
    "Line Type": "TRANSACTION",
    "Reference": "0190a1fc472ce874b1b67520502f7850",
    "Currency": "PHP",
    "Amount": "100.00",
    "Debit or Credit": "CREDIT",
    "Created Date ISO": "2026-11-20T12:30:59.000Z",
}
LAID_OUT = {"adyen": (ADYEN, SETTLED), "xendit": (XENDIT, PAID)}
DEBIT = {"Gross Credit (GC)": "", "Gross Debit (GC)": "10.00"}
CHARGEBACK = {"Type": "Chargeback", **DEBIT}
PROVIDERS = pytest.mark.parametrize("provider", LAID_OUT)


def report(folder: Path, provider: str, *changes: Mapping[str, str]) -> Path:
    """Write a report of `provider` with a row for each of `changes`; return its path."""
    header, row = LAID_OUT[provider]
    path = folder / "report.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, header, restval="")
        out.writeheader()
        out.writerows({**row, **each} for each in changes)
    return path


def read(folder: Path, provider: str, *changes: Mapping[str, str]) -> list[SettlementLine]:
    return files.read(report(folder, provider, *changes), LAYOUTS[provider])


def reconcile(folder: Path, provider: str, *changes: Mapping[str, str]) -> ReconciliationRun:
    path = report(folder, provider, *changes)
    return runs.reconcile(runs.file_report(path, LAYOUTS[provider], None, None), COMMAND)


def test_a_payment_that_adyen_settled_is_read_gross_with_both_names(tmp_path: Path) -> None:
    [line] = read(tmp_path, "adyen", {})
    booked_at = datetime(2026, 11, 20, 12, 30, 59, tzinfo=UTC)
    ours = SETTLED["Merchant Reference"]
    assert line == SettlementLine(ours, "PSP2", Movement.CAPTURE, 10_000, "PHP", booked_at, "Settled")


def test_a_payment_that_xendit_settled_is_read_with_both_names(tmp_path: Path) -> None:
    [line] = read(tmp_path, "xendit", {})
    booked_at = datetime(2026, 11, 20, 12, 30, 59, tzinfo=UTC)
    assert line == SettlementLine(PAID["Reference"], "py-1", Movement.CAPTURE, 10_000, "PHP", booked_at, "PAYMENT")


ADYEN_KINDS = {
    "refund": ({"Type": "Refunded", **DEBIT}, "refund-", (Movement.REFUND, -1_000)),
    "refund that came back": ({"Type": "RefundedReversed"}, "refund-", (Movement.REFUND_RETURNED, 10_000)),
    "capture": ({}, "capture-", (Movement.CAPTURE, 10_000)),
    "release of what was captured": ({"Type": "Refunded", **DEBIT}, "void-", (Movement.VOID, -1_000)),
    "chargeback": (CHARGEBACK, "", (Movement.DISPUTE, -1_000)),
    "second chargeback": ({"Type": "SecondChargeback", **DEBIT}, "", (Movement.DISPUTE, -1_000)),
    "chargeback won": ({"Type": "ChargebackReversed"}, "", (Movement.DISPUTE_WON, 10_000)),
    "what nobody documents": ({"Type": "Enchanted"}, "", (Movement.OTHER, 10_000)),
    "a capture on the wrong side": (DEBIT, "", (Movement.OTHER, -1_000)),
}


@pytest.mark.parametrize(("changes", "prefix", "expected"), ADYEN_KINDS.values(), ids=ADYEN_KINDS)
def test_adyens_words_are_a_known_movement_or_other(
    changes: dict[str, str], prefix: str, expected: tuple[Movement, int], tmp_path: Path
) -> None:
    operation = "0190a1fc472c7874b1b67520502f7851"
    named = {"Modification Merchant Reference": f"{prefix}{operation}" if prefix else ""}
    [line] = read(tmp_path, "adyen", changes | named)
    assert (line.kind, line.amount) == expected
    assert line.reference == (operation if prefix else SETTLED["Merchant Reference"])
    assert line.word == changes.get("Type", "Settled")


REFUND = {"Transaction Type": "REFUND", "Debit or Credit": "DEBIT"}
XENDIT_KINDS = {
    "refund": (REFUND, (Movement.REFUND, -10_000)),
    "refund that came back": (
        {"Transaction Type": "REFUND", "Line Type": "TRANSACTION_REVERSAL"},
        (Movement.REFUND_RETURNED, 10_000),
    ),
    "payment taken back": (
        {"Line Type": "TRANSACTION_REVERSAL", "Debit or Credit": "DEBIT"},
        (Movement.OTHER, -10_000),
    ),
    "what nobody documents": ({"Transaction Type": "ENCHANTMENT"}, (Movement.OTHER, 10_000)),
}


@pytest.mark.parametrize(("changes", "expected"), XENDIT_KINDS.values(), ids=XENDIT_KINDS)
def test_xendits_words_are_a_known_movement_or_other(
    changes: dict[str, str], expected: tuple[Movement, int], tmp_path: Path
) -> None:
    [line] = read(tmp_path, "xendit", changes)
    assert (line.kind, line.amount) == expected


@pytest.mark.parametrize(
    ("provider", "change"),
    [
        ("adyen", {"Type": "Fee", "Gross Credit (GC)": ""}),
        ("adyen", {"Type": "MerchantPayout", "Gross Credit (GC)": ""}),
        ("xendit", {"Line Type": "FEE", "Debit or Credit": "DEBIT"}),
        ("xendit", {"Transaction Type": "WITHDRAWAL", "Debit or Credit": "DEBIT"}),
    ],
    ids=str,
)
def test_rows_of_the_account_are_skipped(provider: str, change: dict[str, str], tmp_path: Path) -> None:
    assert len(read(tmp_path, provider, {}, change)) == 1


@pytest.mark.parametrize(("currency", "text", "amount"), [("JPY", "18", 18), ("KWD", "1.234", 1_234)])
@PROVIDERS
def test_an_amount_has_the_decimals_of_its_currency(
    provider: str, currency: str, text: str, amount: int, tmp_path: Path
) -> None:
    names = {"adyen": ("Gross Currency", "Gross Credit (GC)"), "xendit": ("Currency", "Amount")}[provider]
    [line] = read(tmp_path, provider, dict(zip(names, (currency, text), strict=True)))
    assert (line.currency, line.amount) == (currency, amount)


BAD = {
    "finer than a centavo": ("xendit", {"Amount": "1.001"}, "column Amount: must be an amount of PHP above 0"),
    "signed": ("xendit", {"Amount": "-1.00"}, "column Amount: must have no sign"),
    "a side that is none": ("xendit", {"Debit or Credit": "BOTH"}, "column Debit or Credit: must be one of"),
    "no time": ("xendit", {"Created Date ISO": "yesterday"}, "column Created Date ISO: must be a time such as"),
    "no word": ("adyen", {"Type": "=Settled"}, "column Type: must be a word of up to 40"),
    "both sides": ("adyen", {"Gross Debit (GC)": "1.00"}, "column Gross Debit .GC.: must be there, or"),
    "a zone of several": ("adyen", {"TimeZone": "CST"}, "column TimeZone: must be one of UTC"),
    "no day": ("adyen", {"Creation Date": "20 Nov"}, "column Creation Date: must be a time such as"),
    "thousands": ("adyen", {"Gross Credit (GC)": "1,000.00"}, "column Gross Credit .GC.: must be an amount"),
}


@pytest.mark.parametrize(("provider", "change", "message"), BAD.values(), ids=BAD)
def test_a_malformed_row_is_refused_by_line_and_column(
    provider: str, change: dict[str, str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(BadReport, match=f"^line 3, {message}"):
        read(tmp_path, provider, {}, change)


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


@pytest.mark.django_db
@PROVIDERS
def test_a_report_of_what_we_booked_matches_line_by_line(api: Api, provider: str, tmp_path: Path) -> None:
    paid_by(api, provider)
    run = reconcile(tmp_path, provider, *all_rows(provider))
    assert (run.matched, run.lines, kinds()) == (3, 3, [])


@pytest.mark.django_db
@PROVIDERS
def test_a_missing_line_is_no_difference(api: Api, provider: str, tmp_path: Path) -> None:
    paid_by(api, provider)
    reconcile(tmp_path, provider, all_rows(provider)[0])
    assert kinds() == []


@pytest.mark.django_db
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


@pytest.mark.django_db
def test_a_chargeback_and_its_reversal_match_the_postings_of_the_dispute(api: Api, tmp_path: Path) -> None:
    paid_by(api, "adyen")
    taken = Attempt.objects.filter(kind="authorize").earliest("id")
    for stage in (Stage.CHARGEBACK, Stage.REVERSED):
        disputes.record(attempts.reload(taken), Disputed("PSP9", stage, 1_000, "PHP"))
    of_taken = {"Merchant Reference": taken.reference}
    back = {"Type": "ChargebackReversed", "Gross Credit (GC)": "10.00"}
    run = reconcile(tmp_path, "adyen", *all_rows("adyen"), CHARGEBACK | of_taken, back | of_taken)
    assert (run.matched, kinds()) == (run.lines, [])
