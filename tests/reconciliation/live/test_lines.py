"""Lines of the reports of live providers, as they are read."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from payments.providers.settlement_reports import Movement, SettlementLine
from tests.reconciliation.live.reports import CHARGEBACK, DEBIT, PAID, PROVIDERS, REFUND, SETTLED, TAKEN_BACK, read

OURS = "0190a1fc472c7874b1b67520502f7851"


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
    "what it paid to our bank": (CHARGEBACK | {"Type": "MerchantPayout"}, "", (Movement.PAYOUT, -1_000)),
    "second chargeback": ({"Type": "SecondChargeback", **DEBIT}, "", (Movement.DISPUTE, -1_000)),
    "chargeback won": ({"Type": "ChargebackReversed"}, "", (Movement.DISPUTE_WON, 10_000)),
    "blanks after the word": ({"Type": "Settled "}, "", (Movement.CAPTURE, 10_000)),
    "what nobody documents": ({"Type": "Enchanted"}, "", (Movement.OTHER, 10_000)),
    "a capture on the wrong side": (DEBIT, "", (Movement.OTHER, -1_000)),
}


@pytest.mark.parametrize(("changes", "prefix", "expected"), ADYEN_KINDS.values(), ids=ADYEN_KINDS)
def test_adyens_words_are_a_known_movement_or_other(
    changes: dict[str, str], prefix: str, expected: tuple[Movement, int], tmp_path: Path
) -> None:
    named = {"Modification Merchant Reference": f"{prefix}{OURS}" if prefix else ""}
    [line] = read(tmp_path, "adyen", changes | named)
    assert (line.kind, line.amount) == expected
    assert line.reference == (OURS if prefix else SETTLED["Merchant Reference"])
    assert line.word == changes.get("Type", "Settled").strip()


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
    "chargeback": (TAKEN_BACK, (Movement.DISPUTE, -10_000)),
    "what it paid to our bank": (TAKEN_BACK | {"Transaction Type": "WITHDRAWAL"}, (Movement.PAYOUT, -10_000)),
    "chargeback by mail": (TAKEN_BACK | {"Transaction Type": "chargeback_deduction"}, (Movement.DISPUTE, -10_000)),
    "chargeback won": ({"Transaction Type": "CHARGEBACK_REVERSAL"}, (Movement.DISPUTE_WON, 10_000)),
    "a chargeback on the wrong side": ({"Transaction Type": "CHARGEBACK"}, (Movement.OTHER, 10_000)),
    "payment of an older report": ({"Transaction Type": "EWALLET PAYMENT"}, (Movement.CAPTURE, 10_000)),
    "refund of an older report": (REFUND | {"Transaction Type": "CREDIT_CARD_REFUND"}, (Movement.REFUND, -10_000)),
    "blanks after the word": ({"Transaction Type": "PAYMENT "}, (Movement.CAPTURE, 10_000)),
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
        ("xendit", {"Line Type": "FEE", "Debit or Credit": "DEBIT"}),
        ("adyen", {"Gross Credit (GC)": "0.00", "Net Credit (NC)": "0.00"}),
        ("adyen", {"Gross Credit (GC)": "", "Net Credit (NC)": "", "Net Debit (NC)": "0"}),
        ("xendit", {"Transaction Type": "DISBURSEMENT", "Debit or Credit": "DEBIT"}),
        ("xendit", {"Transaction Type": "BATCH DISBURSEMENT", "Debit or Credit": "DEBIT"}),
        ("xendit", {"Transaction Type": "disbursement", "Line Type": "TRANSACTION_REVERSAL"}),
        ("xendit", {"Transaction Type": "DISBURSEMENT", "Line Type": "VAT", "Debit or Credit": "DEBIT"}),
        ("xendit", {"Amount": "0.00"}),
    ],
    ids=str,
)
def test_rows_of_the_account_or_of_nothing_are_left_out(provider: str, change: dict[str, str], tmp_path: Path) -> None:
    assert len(read(tmp_path, provider, {}, change)) == 1


ZONES = {
    "of the dashboard": ("2026-11-20T20:30:59", "+0800 UTC"),
    "with a colon": ("2026-11-20T20:30:59", "+08:00"),
    "beside a time with its own": ("2026-11-20T12:30:59Z", "+0800 UTC"),
    "none": ("2026-11-20T12:30:59", ""),
}


@pytest.mark.parametrize(("text", "zone"), ZONES.values(), ids=ZONES)
def test_a_time_of_xendit_is_in_the_time_zone_of_its_row(text: str, zone: str, tmp_path: Path) -> None:
    [line] = read(tmp_path, "xendit", {"Created Date ISO": text, "Time Zone": zone})
    assert line.booked_at == datetime(2026, 11, 20, 12, 30, 59, tzinfo=UTC)


@pytest.mark.parametrize(("currency", "text", "amount"), [("JPY", "18", 18), ("KWD", "1.234", 1_234)])
@PROVIDERS
def test_an_amount_has_the_decimals_of_its_currency(
    provider: str, currency: str, text: str, amount: int, tmp_path: Path
) -> None:
    names = {"adyen": ("Gross Currency", "Gross Credit (GC)"), "xendit": ("Currency", "Amount")}[provider]
    [line] = read(tmp_path, provider, dict(zip(names, (currency, text), strict=True)))
    assert (line.currency, line.amount) == (currency, amount)


BAD = {
    "finer than a centavo": ("xendit", {"Amount": "1.001"}, "column Amount: must be an amount of PHP with 2 decimals"),
    "the first year": (
        "xendit",
        {"Created Date ISO": "0001-01-01T00:00:00Z"},
        "column Created Date ISO: must be a time of",
    ),
    "the last year": ("adyen", {"Creation Date": "9999-12-31 23:59:59"}, "column Creation Date: must be a time of"),
    "no amount": (
        "adyen",
        {"Gross Credit (GC)": "", "Net Credit (NC)": ""},
        "column Net Debit .NC.: must be there, or",
    ),
    "a currency of nobody": ("adyen", {"Gross Currency": "php"}, "column Gross Currency: must be a currency"),
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
def test_a_malformed_row_is_a_line_with_the_reason(
    provider: str, change: dict[str, str], message: str, tmp_path: Path
) -> None:
    good, unread, again = read(tmp_path, provider, {}, change, {})
    assert (good, unread.kind, unread.row) == (again, Movement.UNREAD, 3)
    assert re.match(message, unread.word)


NAMES = {
    "our operation": (f"refund-{OURS}", {}, OURS, "PSP2"),
    "an automatic capture": ("<auto>", {}, SETTLED["Merchant Reference"], "PSP2"),
    "text by hand": ("refund-order 17", {}, SETTLED["Merchant Reference"], "PSP2"),
    "a formula": ("=refund", {}, SETTLED["Merchant Reference"], "PSP2"),
    "what cannot be stored": ("x" * 300, {}, SETTLED["Merchant Reference"], "PSP2"),
    "a payment of others": ("", {"Merchant Reference": "till 7"}, "till 7", "PSP1"),
    "no name but Adyen's": ("<auto>", {"Merchant Reference": ""}, "", "PSP1"),
    "a refund of others": ("", {"Merchant Reference": "till 7", "Type": "Refunded", **DEBIT}, "till 7", "PSP2"),
    "no name at all": (
        "",
        {"Merchant Reference": "", "Psp Reference": "", "Modification Reference": "", "Type": "ManualCorrected"},
        "",
        "ManualCorrected",
    ),
}


@pytest.mark.parametrize(("name", "changes", "reference", "provider_ref"), NAMES.values(), ids=NAMES)
def test_our_name_counts_at_adyen_only_where_we_gave_it(
    name: str, changes: dict[str, str], reference: str, provider_ref: str, tmp_path: Path
) -> None:
    [line] = read(tmp_path, "adyen", changes | {"Modification Merchant Reference": name})
    assert (line.reference, line.provider_ref) == (reference, provider_ref)
