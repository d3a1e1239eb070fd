"""MT940 as banks write it; each quirk was seen in files or threads of accounting systems."""

import pytest

from payments.domain.reconciliation.bank import mt940 as reader
from payments.domain.reconciliation.bank.statements import ReadStatement
from payments.domain.reconciliation.files import BadReport
from payments.providers.settlement_reports import SettlementLine
from tests.reconciliation.bank.files import mt940

OURS = "0195f3c0a1b27c3d8e4f5a6b7c8d9e0f"  # pragma: allowlist secret


def read(text: str) -> list[ReadStatement]:
    return reader.read(text, lambda _: None)


def line_of(*lines: str) -> SettlementLine:
    [statement] = read(mt940(lines))
    [line] = statement.lines
    return line


def test_a_statement_has_its_account_its_balances_and_its_movements() -> None:
    text = mt940([":61:2611261126D12,50NTRFREF1//BANK1", ":86:Rent"], closing="D261126PHP3,")
    [statement] = read(text)
    assert (statement.name, statement.number, statement.currency) == ("STARTUMS 00001/001", "001122334455", "PHP")
    assert (statement.opening, statement.closing, statement.off) == (100_000, -300, 100_000 - 1_250 + 300)
    assert read(mt940(opening="C000000PHP0,00"))[0].first_day is None
    [line] = statement.lines
    assert (line.reference, line.provider_ref, line.text, line.row) == ("REF1", "BANK1", "Rent", 5)


@pytest.mark.parametrize(
    ("entry", "day", "amount"),
    [
        ("2611261126C9,N192NONREF", "2026-11-26", 900),
        ("2611261126CR59,99NTRFNONREF", "2026-11-26", 5_999),
        ("2611261126RD59,99NTRFNONREF", "2026-11-26", 5_999),
        ("2611261126RCP59,99NTRFNONREF", "2026-11-26", -5_999),
        ("261126D65,00NOVBNL47INGB9999999999", "2026-11-26", -6_500),
        ("261126    D65,00NOVBNL47INGB9999999999", "2026-11-26", -6_500),
        ("2612310105C10,5N570NONREF", "2027-01-05", 1_050),
        ("2701011230C27,98NMSCNONREF//2026-12-30-18.02", "2026-12-30", 2_798),
        ("261126C0,92FMSCNONREF", "2026-11-26", 92),
        ("2611261126C119,NMSC341241773/1XXXXX//O/341241774", "2026-11-26", 11_900),
        ("2611261126C1PHP", "", 0),
        ("2613261126C1,NTRFX", "", 0),
        ("2611260230C1,NTRFX", "2026-11-26", 0),
        ("2611261126C1,001NTRFX", "", 0),
        ("nothing", "", 0),
    ],
)
def test_a_movement_has_its_day_and_its_side_or_is_named_as_unread(entry: str, day: str, amount: int) -> None:
    line = line_of(f":61:{entry}")
    assert line.amount == amount
    assert (line.kind, f"{line.booked_at:%Y-%m-%d}" if line.booked_at else "") == (
        ("booked", day) if amount else ("unread", "")
    )
    assert line.row == 5


def test_references_are_on_either_side_of_the_first_two_slashes() -> None:
    line = line_of(":61:2611261126C119,NMSC341241773/1XXXXX//O/341241774", "Paiement")
    assert (line.reference, line.provider_ref, line.text) == ("341241773/1XXXXX", "O/341241774", "Paiement")


@pytest.mark.parametrize(
    "text",
    [
        f"116?00AUFTRAG?20EREF+{OURS[:22]}?21{OURS[22:]}?22SVWZ+Payout",
        f"/EREF/{OURS}//CNTP/NL92RABO0/RABONL2U/Sari///REMI/USTD//Payout/",
        f"EREF+{OURS[:20]}\n{OURS[20:]}CRED+DE98",
        f"Payout {OURS.upper()}",
        f"202611260000700080 {OURS}",
    ],
    ids=["german", "dutch", "wrapped", "capitals", "numbered"],
)
def test_our_name_is_found_in_the_text_however_it_is_cut(text: str) -> None:
    assert line_of(":61:2611261126D1,NTRFNONREF", f":86:{text}").reference == OURS


@pytest.mark.parametrize(
    ("kind", "text", "word"),
    [
        ("NTRF", f"159?00RETOURE?20EREF+{OURS}?21SVWZ+RETURN AC04", "AC04"),
        ("NTRF", f"/RTRN/AC01/EREF/{OURS}/", "AC01"),
        ("NRTI", OURS, "returned"),
        ("NTRF", f"116?20EREF+{OURS}?21SVWZ+Order AC04", ""),
    ],
)
def test_a_return_has_the_reason_of_the_bank(kind: str, text: str, word: str) -> None:
    assert line_of(f":61:2611261126C1,{kind}NONREF", f":86:{text}").word == word


def test_what_stands_before_and_after_statements_is_left_out() -> None:
    enveloped = "{1:F01ASNBNL21XXXX0000000000}{2:O940ASNBNL21XXXXN}{3:}{4:\n" + mt940().replace("-\n", "-}\n")
    letterhead = f"ABNANL2A\n940\nABNANL2A\n{mt940()}"
    tail = mt940().replace("-\n", ":64:C261126PHP1,\n:65:C261127PHP1,\n:86:/SUM/0/0/\n-\n")
    for text in (enveloped, letterhead, tail, mt940().replace("\n", "\r\n")):
        assert [(each.number, each.closing) for each in read(text)] == [("001122334455", 100_000)]


def test_pages_and_empty_statements_are_statements_of_their_own() -> None:
    page = mt940([":61:2611261126C1,NTRFX"], closing="C261126PHP1001,").replace(":62F:", ":62M:")
    last = mt940(opening="C261126PHP1001,", closing="C261126PHP1001,", f28C="1/2").replace(":60F:", ":60M:")
    assert [(len(each.lines), each.off) for each in read(page + last)] == [(1, 0), (0, 0)]


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("10050000/12345678", "10050000/12345678"),
        ("NL81ASNB9999999999 EUR", "NL81ASNB9999999999"),
        ("123456PHP", "123456"),
    ],
)
def test_a_currency_after_the_account_is_no_part_of_its_number(written: str, number: str) -> None:
    assert read(mt940(f25=written))[0].number == number


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (mt940().replace(":62F:", ":64:"), "line 6: the statement before it has no closing balance"),
        (mt940().replace(":62F:", ":64:") + mt940(), "line 7: the statement before it has no closing balance"),
        (mt940(opening="C261126PHP1.000,00"), "line 4: must be a balance"),
        (mt940(opening="C261332PHP1,"), "line 4: "),
        (mt940(closing="C261126XYZ1,"), "line 5: must be a currency"),
        (":61:2611261126C1,NTRFX\n", "line 1: the field 61 stands before any statement"),
    ],
)
def test_a_file_that_is_not_whole_is_refused_with_the_line(text: str, message: str) -> None:
    with pytest.raises(BadReport, match=message):
        read(text)
