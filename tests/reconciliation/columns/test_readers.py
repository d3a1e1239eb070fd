"""Files of any columns are read by a layout, or refused with the line and the column."""

from datetime import date, datetime

import pytest

from payments.domain.reconciliation.columns import readers
from payments.domain.reconciliation.columns.layout import AnyStatement, ColumnLayout, Meaning, Role, Signs
from payments.domain.reconciliation.files import BadReport
from payments.models import OwnBankAccount
from tests.reconciliation.columns.files import HEADER, LAYOUT, READ, ROWS, changed, report, sheets, short, text_of


def lines(rows: list[tuple[str, ...]], layout: ColumnLayout = LAYOUT) -> list[tuple[str, str, int]]:
    return short(readers.lines_of(text_of(rows).encode(), report(layout)))


def words(rows: list[tuple[str, ...]], layout: ColumnLayout = LAYOUT) -> list[str]:
    """Return why rows cannot be read that follow one that can."""
    found = readers.lines_of(text_of([HEADER, ROWS[0], *rows]).encode(), report(layout))
    return [f"{line.row}: {line.word}" for line in found if line.kind == "unread"]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_file_is_read_whatever_its_separator_and_byte_order_mark(separator: str, encoding: str) -> None:
    raw = text_of([HEADER, *ROWS], separator).encode(encoding)
    assert short(readers.lines_of(raw, report())) == READ


def test_an_encoding_without_a_mark_is_that_of_the_layout() -> None:
    raw = text_of([("Übertrag", *HEADER[1:]), *ROWS]).encode("cp1252")
    layout = changed(columns={Role.DATE: "Übertrag"}, encoding="windows-1252")
    assert short(readers.lines_of(raw, report(layout))) == READ
    with pytest.raises(BadReport, match="line 1: it is not in utf-8; change the encoding in its layout"):
        readers.lines_of(raw, report(changed(columns={Role.DATE: "Übertrag"})))


def test_a_letterhead_blank_lines_and_sums_are_no_movements() -> None:
    rows = [
        ("Acme Payments Inc.",),
        ("sep=,",),
        (),
        HEADER,
        *ROWS[:2],
        (),
        ("",) * 5,
        ROWS[2],
        ("Total", "", "", "234.50", ""),
    ]
    assert lines(rows) == READ


def test_columns_are_found_by_their_names_wherever_they_stand() -> None:
    mixed = [(row[3], "", row[0], row[4], row[2], row[1]) for row in (HEADER, *ROWS)]
    assert lines(mixed) == READ
    assert lines([tuple(f" {cell}\n" for cell in HEADER), *ROWS]) == READ


def test_a_file_without_a_header_has_numbered_columns() -> None:
    numbers = {Role.DATE: "1", Role.REFERENCE: "2", Role.KIND: "3", Role.AMOUNT: "4", Role.CURRENCY: "5"}
    assert lines([*ROWS], changed(columns=numbers, has_header=False)) == READ
    raw = text_of([*ROWS, (*ROWS[0][:4], "P,,,,,,,HP")], ";").encode()
    assert len(readers.lines_of(raw, report(changed(columns=numbers, has_header=False)))) == 4
    with pytest.raises(BadReport, match="column 5: must be there"):
        lines([row[:4] for row in ROWS], changed(columns=numbers, has_header=False))


@pytest.mark.parametrize(
    "rows", [[], [("",) * 5], [("Total", "", "", "1.00", "")], [("30/11/2026", "x", "Fee", "1.00", "PHP")]]
)
def test_a_file_without_an_entry_is_no_success(rows: list[tuple[str, ...]]) -> None:
    with pytest.raises(BadReport, match="no entries"):
        lines([HEADER, *rows])


def test_a_missing_column_and_one_that_is_there_twice_are_named() -> None:
    with pytest.raises(BadReport, match="line 2, column Amount: must be there, once"):
        lines([("Acme",), (*HEADER[:3], "Value", "Currency")])
    with pytest.raises(BadReport, match="line 1, column Type: must be there, once"):
        lines([(*HEADER, "Type")])


def test_a_row_that_cannot_be_read_is_said_with_its_line_and_column() -> None:
    assert words(
        [
            ("30.11.2026", "order-3", "Sale", "1.00", "PHP"),
            ("30/11/2026", "order-3", "Sale", "1,00", "PHP"),
            ("30/11/2026", "order-3", "Sale", "", "PHP"),
            ("30/11/2026", "", "Sale", "1.00", "PHP"),
            ("30/11/2026", "1.23457E+17", "Sale", "1.00", "PHP"),
            ("30/11/2026", "order-3", "Sale", "1.00", "pesos"),
            ("30/11/2026", "order-3", "Sale"),
        ]
    ) == [
        "3: column Date: must be a time such as 30/11/2026",
        "4: column Amount: must be an amount of PHP, such as 1234.50",
        "5: column Amount: must be there",
        "6: it must name the payment or operation",
        "7: column Merchant Reference: a spreadsheet has lost digits of it: make its column text",
        "8: column Currency: must be a currency by ISO 4217 in capital letters, such as PHP",
        "9: 5 columns are needed, here are 3",
    ]


def test_equal_rows_count_as_often_as_they_are_there() -> None:
    assert lines([HEADER, ROWS[0], ROWS[0]]) == [READ[0], READ[0]]


def test_a_word_that_is_not_known_is_something_else_and_kept() -> None:
    [line] = readers.lines_of(text_of([HEADER, ("30/11/2026", "x", "Adjustment", "5.00", "PHP")]).encode(), report())
    assert (line.kind, line.amount, line.word) == ("other", 500, "Adjustment")
    row = ("30/11/2026", "x", "Adjustment", "5.00", "PHP")
    assert words([row], changed(signs=Signs.KIND)) == [
        "3: column Type: must be a word of the layout, which says the way"
    ]


def test_a_refund_or_dispute_that_comes_is_one_that_comes_back() -> None:
    rows = [("30/11/2026", "x", word, "5.00", "PHP") for word in ("Refund", "Chargeback", "Settlement")]
    kinds = {"refund": Meaning.REFUND, "chargeback": Meaning.DISPUTE, "settlement": Meaning.PAYOUT}
    found = lines([HEADER, *rows], changed(kinds=kinds))
    assert [kind for _, kind, _ in found] == ["refund_returned", "dispute_won", "other"]


def test_signs_are_by_the_kind_reversed_by_a_side_or_by_two_columns() -> None:
    unsigned = [(*row[:3], row[3].lstrip("-"), row[4]) for row in ROWS]
    assert lines([HEADER, *unsigned], changed(signs=Signs.KIND)) == READ
    turned = [(*row[:3], row[3].lstrip("-") if row[3][0] == "-" else f"-{row[3]}", row[4]) for row in ROWS]
    assert lines([HEADER, *turned], changed(signs=Signs.REVERSED)) == READ
    sided = [(*HEADER, "D/C"), *((*row, "D" if "Refund" in row else "Cr.") for row in unsigned)]
    assert lines(sided, changed(columns={Role.SIDE: "D/C"})) == READ
    two = [
        (*HEADER[:3], "Out", "In"),
        *((*row[:3], *((row[3], "") if "Refund" in row else ("", row[3]))) for row in unsigned),
    ]
    pair = {Role.AMOUNT: "", Role.CURRENCY: "", Role.DEBIT: "Out", Role.CREDIT: "In"}
    assert lines(two, changed(columns=pair, currency="PHP")) == READ
    assert lines([sided[0], (*ROWS[2], "C")], changed(columns={Role.SIDE: "D/C"})) == READ[2:]
    assert lines([two[0], (*ROWS[2][:3], "", "-1,000.00")], changed(columns=pair, currency="PHP")) == READ[2:]


def test_an_amount_is_the_net_and_the_fee_or_agrees_with_both() -> None:
    rows = [(*HEADER, "Fee", "Net"), (*ROWS[0], "4.50", "1,230.00")]
    both = {Role.FEE: "Fee", Role.NET: "Net"}
    assert lines(rows, changed(columns=both)) == lines(rows, changed(columns=both | {Role.AMOUNT: ""})) == READ[:1]
    assert lines([rows[0], (*ROWS[1], "4.50", "-4.00")], changed(columns=both)) == READ[1:2]
    with pytest.raises(BadReport, match="line 2, column Net: amount, fee and net do not add up"):
        lines([rows[0], (*ROWS[0], "4.50", "1,231.00")], changed(columns=both))
    with pytest.raises(BadReport, match="line 2, column Net: must be there"):
        lines([rows[0], (*ROWS[0], "4.50", "")], changed(columns=both | {Role.AMOUNT: ""}))


def test_a_sheet_is_read_by_its_values_and_the_named_sheet_is_taken() -> None:

    rows = [
        ["Acme"],
        [],
        list(HEADER),
        [date(2026, 11, 28), "order-1", "Sale", 1234.5, "PHP"],
        [datetime.fromisoformat("2026-11-29T10:00"), "order-2", "Sale", 0.1 + 0.2 + 0.2, "PHP"],
        ["30/11/2026", "order-1", "Refund", "(1,000.00)", "PHP"],
        ["Total", None, None, 235],
    ]
    assert short(readers.lines_of(sheets(_Old=rows[:4], Lines=rows), report())) == READ
    raw = sheets(Summary=[["x"]], Lines=rows)
    assert short(readers.lines_of(raw, report(changed(sheet="Lines")))) == READ
    with pytest.raises(BadReport, match="no sheet November; its sheets are Summary, Lines"):
        readers.lines_of(raw, report(changed(sheet="November")))


def test_cells_that_are_merged_over_rows_are_said_to_be_missing() -> None:
    raw = sheets(Lines=[HEADER, *ROWS[:1], [None, "order-2", "Sale", 0.5, "PHP"]])
    assert readers.lines_of(raw, report())[1].word == "column Date: must be a time such as 30/11/2026"


def test_digits_that_a_sheet_has_lost_are_not_made_up() -> None:
    raw = sheets(Lines=[HEADER, ROWS[0], ["30/11/2026", 123456789012345678, "Sale", 1, "PHP"]])
    assert "has lost digits" in readers.lines_of(raw, report())[1].word


def test_a_statement_of_our_bank_has_movements_without_a_reference() -> None:
    layout = ColumnLayout(
        {Role.DATE: "Datum", Role.AMOUNT: "Betrag", Role.TEXT: "Text", Role.CURRENCY: "Währung", Role.KIND: "Art"},
        {"rückgabe": Meaning.PAYOUT},
        "%d.%m.%Y",
        ",",
    )
    account = OwnBankAccount(name="ours", currency="PHP", last4="4455")
    text = text_of(
        [("Datum", "Betrag", "Text", "Währung", "Art"), ("30.11.2026", "-1.234,50", "Acme 1", "PHP", "Überweisung"),
         ("30.11.2026", "5,00", "back", "PHP", "Rückgabe"), ("30.11.2026", "5,00", "", "EUR", "")], ";"
    )  # fmt: skip
    found = readers.statement_of(text.encode(), AnyStatement("ours", layout, account))
    assert [(line.kind, line.amount, line.word, line.text) for line in found.lines] == [
        ("booked", -123450, "", "Acme 1 Überweisung"),
        ("booked", 500, "returned", "back Rückgabe"),
    ]
    assert (found.opening, found.number) == (None, "4455")


@pytest.mark.parametrize(
    ("columns", "others", "fault"),
    [
        ({Role.DATE: ""}, {}, "column of the date"),
        ({Role.AMOUNT: ""}, {}, "column of the amount"),
        ({Role.AMOUNT: "", Role.DEBIT: "D"}, {}, "debits and credits"),
        ({Role.DEBIT: "D", Role.CREDIT: "C"}, {}, "one of debits and one of credits"),
        ({Role.AMOUNT: "", Role.NET: "N"}, {}, "that of the fee"),
        ({Role.KIND: ""}, {"signs": Signs.KIND}, "column of the kind"),
        ({Role.REFERENCE: ""}, {}, "column of the reference"),
        ({Role.CURRENCY: ""}, {}, "column of the currency"),
    ],
)
def test_a_layout_by_which_nothing_can_be_read_is_refused(
    columns: dict[Role, str], others: dict[str, Signs], fault: str
) -> None:
    with pytest.raises(ValueError, match=fault):
        changed(columns, **others).check(is_bank=False)


def test_a_layout_is_kept_as_json() -> None:
    assert ColumnLayout.from_json(LAYOUT.as_json()) == LAYOUT
