"""Layouts proposed for files as providers and banks of several countries export them."""

from datetime import date

import pytest
from django.core.signing import BadSignature

from payments.domain.reconciliation.columns.examples import Sample, preview, sample_of
from payments.domain.reconciliation.columns.layout import AnyReport, AnyStatement, Role, Signs
from payments.domain.reconciliation.columns.proposal import Proposal, propose
from payments.models import OwnBankAccount
from tests.reconciliation.columns.files import HEADER, ROWS, report, sheets, text_of

BALANCE = """balance_transaction_id,created_utc,currency,gross,fee,net,reporting_category,description
txn_1,2026-11-28 10:11:12,php,100.50,3.50,97.00,charge,Order 1
txn_2,2026-11-29 10:11:12,php,-20.00,0.00,-20.00,refund,Order 1
txn_3,2026-11-30 10:11:12,php,-77.00,0.00,-77.00,payout,
"""
WALLET = """Settlement report of Acme,,,,
Transaction Date,Merchant Reference Number,Transaction Type,Amount (PHP),MDR
"Nov 28, 2026 10:05 PM",0193700000007000800000000000000a,Payment,"1,200.00",-10.00
"Nov 29, 2026 11:05 AM",0193700000007000800000000000000b,Refund,200.00,0.00
Total,,,"1,400.00",10.00
"""
SAVINGS_BANK = """"Auftragskonto";"Buchungstag";"Valutadatum";"Buchungstext";"Verwendungszweck";"Betrag";"Waehrung"
"DE1";"28.11.26";"29.11.26";"GUTSCHRIFT";"Zahlung für Müller";"1.234,50";"EUR"
"DE1";"30.11.26";"30.11.26";"LASTSCHRIFT";"Gebühr";"-3,00";"EUR"
"""
PASSBOOK = """Date,Particulars,Debit,Credit,Balance
11/28/2026,Transfer,,"1,200.00","1,200.00"
11/30/2026,Charge,5.00,,"1,195.00"
"""


def proposed(text: str, is_bank: bool = False, encoding: str = "utf-8") -> Proposal:
    return propose(sample_of(text.encode(encoding)), is_bank)


def test_columns_are_found_by_their_names_and_kinds_by_their_words() -> None:
    found = proposed(BALANCE)
    assert found.layout.columns == {
        Role.PROVIDER_REF: "balance_transaction_id",
        Role.DATE: "created_utc",
        Role.AMOUNT: "gross",
        Role.FEE: "fee",
        Role.NET: "net",
        Role.CURRENCY: "currency",
        Role.KIND: "reporting_category",
        Role.TEXT: "description",
    }
    assert found.layout.kinds == {"charge": "charge", "refund": "refund", "payout": "payout"}
    assert (found.layout.signs, found.doubts) == (Signs.WRITTEN, [])
    assert "Amount: column “gross”, by its name; 3 of 3 values are such" in found.reasons


def test_a_letterhead_sums_and_amounts_without_a_sign_are_understood() -> None:
    found = proposed(WALLET)
    assert (found.layout.currency, found.layout.dates, found.layout.skipped) == ("PHP", "%b %d, %Y", ("total",))
    assert found.layout.signs is Signs.KIND
    assert "Reference: column “Merchant Reference Number”, 2 of 2 values are names that kaha gave" in found.reasons


def test_a_bank_statement_with_commas_and_without_a_mark_is_understood() -> None:
    found = proposed(SAVINGS_BANK, is_bank=True, encoding="cp1252")
    assert (found.layout.encoding, found.layout.decimal, found.layout.dates) == ("windows-1252", ",", "%d.%m.%y")
    # Its name is not among those that are known.
    assert found.layout.columns[Role.CURRENCY] == "Waehrung"
    for encoding in ("utf-16-be", "utf-16-le", "shift_jis"):
        assert sample_of("Date,データ\n".encode(encoding)).rows[0].cells == ["Date", "データ"]


def test_debits_and_credits_make_the_amount() -> None:
    found = proposed(PASSBOOK, is_bank=True)
    assert {Role.DEBIT: "Debit", Role.CREDIT: "Credit"}.items() <= found.layout.columns.items()
    assert (Role.AMOUNT in found.layout.columns, found.layout.dates) == (False, "%m/%d/%Y")


def test_what_may_be_otherwise_is_a_doubt() -> None:
    found = proposed("Date,Reference,Amount\n05/11/2026,a,1.000\n06/11/2026,b,2.000\n")
    assert found.doubts == [
        "Days may be as 30/11/2026 or as 11/30/2026: each reads as many of them.",
        "Amounts read with a decimal point and with a decimal comma: look at the sums.",
        "No amount is negative, so nothing says which way money went.",
        "No column is the currency; none is named, PHP is taken.",
    ]
    found = proposed("Date,Reference,Amount (USD),Amount (PHP),Text\n" + 9 * "05/11/2026,a,-1.00,-58.00,TOP\n" + "end")
    assert found.doubts[0] == "The amount may as well be in the column “Amount (PHP)” as in “Amount (USD)”."
    assert (found.doubts[1][:11], "; PHP, TOP, USD is named" in found.doubts[2]) == ("Days may be", True)
    mixed = sheets(Lines=[HEADER, *ROWS, [date(2026, 1, 11), "a", "Sale", -1.5, "PHP"]])
    assert "a spreadsheet may have taken days for months" in propose(sample_of(mixed), is_bank=False).doubts[0]
    assert "No amount is negative, so nothing says which way money went." in proposed(
        "Date,Amount\n30/11/2026,1.00\n", is_bank=True
    ).doubts  # fmt: skip


def test_a_kind_is_by_whole_words() -> None:
    words = ("private", "taxi", "wholesale", "chargeback_fee", "rückzahlung")
    rows = [("2026-11-30", "a", word, "-9.00") for word in words]
    assert proposed(text_of([("Date", "Reference", "Type", "Amount"), *rows])).layout.kinds == dict(
        zip(words, ("other", "other", "other", "fee", "refund"), strict=True)
    )


def test_a_payer_whose_name_begins_as_a_sum_is_not_left_out() -> None:
    rows = b"Summer,2026-11-30,a,-5.00,PHP\nTotal Gas,2026-11-30,b,6.00,PHP\nSum,,,1.00,\n"
    sample = sample_of(b"Customer,Date,Reference,Amount,Currency\n" + rows)
    found = propose(sample, is_bank=False)
    assert (found.layout.skipped, len(preview(sample, report(found.layout)).lines)) == (("sum",), 2)


def test_payments_below_zero_are_signs_that_are_reversed() -> None:
    text = "Date,Reference,Type,Amount\n30/11/2026,a,Payment,-5.00\n30/11/2026,b,Refund,5.00\n"
    assert proposed(text).layout.signs is Signs.REVERSED


def test_a_balance_with_a_day_is_no_movement() -> None:
    text = "Date,Description,Amount\n01/11/2026,Opening balance,1000.00\n28/11/2026,Balance of Ben,-1.00\n"
    layout = proposed(text, is_bank=True).layout
    account = OwnBankAccount(name="ours", currency="PHP", last4="4455")
    found = preview(sample_of(text.encode()), AnyStatement("ours", layout, account))
    assert ([line.text for line in found.lines], found.left_out) == (["Balance of Ben"], 1)


def test_a_sample_is_small_enough_for_a_form() -> None:
    rows = [[f"{place * row}-{'x' * 90}" for place in range(40)] for row in range(200)]
    assert len(sample_of(sheets(Lines=rows)).written()) < 100_000


def test_a_file_without_known_columns_says_what_is_missing() -> None:
    assert proposed("a,b\nx,y\n").doubts[-1] == "Name the column of the date."
    assert proposed("").layout.columns == {}


def test_a_file_without_a_header_is_understood_by_its_values() -> None:
    found = proposed('"30/11/2026","-1,200.50","PHP","x"\n"29/11/2026","5.00","PHP","y"\n', is_bank=True)
    assert found.layout.has_header is False
    assert found.layout.columns == {Role.DATE: "1", Role.AMOUNT: "2", Role.CURRENCY: "3"}


def test_a_sample_travels_with_a_form_signed_and_without_card_numbers() -> None:
    rows = [HEADER, *ROWS, ("30/11/2026", "card 4242 4242 4242 4242", "Sale", "1.00", "PHP"), (378282246310005,)]
    for sample in (sample_of(text_of(rows).encode()), sample_of(sheets(Lines=[*rows, [1.5]]), "Lines")):
        assert Sample.read(sample.written()) == sample
        assert sample.rows[4].cells[1] == "[card …4242]"
        assert sample.rows[5].cells[0] == "[card …0005]"
    with pytest.raises(BadSignature):
        Sample.read(sample.written() + "x")


def test_a_preview_shows_lines_sums_and_what_cannot_be_read() -> None:
    rows = [HEADER, *ROWS, ("30/11/2026", "x", "Fee", "1.00", "PHP"), ("soon", "y", "Sale", "1.00", "PHP")]
    found = preview(sample_of(text_of(rows).encode()), report())
    assert [line.row for line in found.lines] == [2, 3, 4]
    assert found.sums == {("capture", "PHP"): 123500, ("refund", "PHP"): -100000}
    assert (found.left_out, found.faults) == (1, ["line 6, column Date: must be a time such as 30/11/2026"])


def test_a_preview_of_other_columns_says_which_is_missing() -> None:
    found = preview(sample_of(b"Date,Amount\n30/11/2026,1.00\n"), report())
    assert found.faults == ["line 1, column Merchant Reference: must be there, once"]
    sample = sample_of(b"Reference,Amount\na,1.00\n")
    found = preview(sample, report(propose(sample, is_bank=False).layout))
    assert found.faults == ["Name the column of the date."]


@pytest.mark.parametrize(
    ("text", "is_bank"), [(BALANCE, False), (WALLET, False), (SAVINGS_BANK, True), (PASSBOOK, True)]
)
def test_every_row_is_read_by_the_layout_that_is_proposed_for_it(text: str, is_bank: bool) -> None:
    sample = sample_of(text.encode())
    layout = propose(sample, is_bank).layout
    account = OwnBankAccount(name="ours", currency="EUR" if "EUR" in text else "PHP", last4="4455")
    found = preview(sample, AnyStatement("ours", layout, account) if is_bank else AnyReport("acme", layout))
    assert (len(found.lines), found.faults) == (3 if text == BALANCE else 2, [])
