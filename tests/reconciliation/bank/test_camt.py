"""camt.053, camt.052 and camt.054 as banks write them; each quirk was seen in files of accounting systems."""

import re

import pytest

from payments.domain.reconciliation.bank import camt as reader
from payments.domain.reconciliation.bank.statements import ReadStatement, decode
from payments.domain.reconciliation.files import BadReport
from tests.reconciliation.bank.files import KINDS, balance, camt, details, entry

OURS = "0195f3c0a1b27c3d8e4f5a6b7c8d9e0f"  # pragma: allowlist secret


def read(text: str) -> list[ReadStatement]:
    return reader.read(text, lambda _: None)


def amounts(text: str) -> list[int]:
    return [line.amount for statement in read(text) for line in statement.lines]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("version", ["02", "03", "04", "05", "06", "07", "08"])
def test_every_version_of_each_message_is_read(kind: str, version: str) -> None:
    [statement] = read(camt(entry("-100.00", details(OURS), ref="B1"), kind=kind, version=version))
    [line] = statement.lines
    assert (line.reference, line.provider_ref, line.amount, line.currency) == (OURS, "B1", -10_000, "PHP")
    assert f"{line.booked_at:%Y-%m-%d}" == "2026-11-26"
    assert (statement.opening, statement.closing) == ((100_000, 100_000) if kind == "053" else (None, None))


@pytest.mark.parametrize("version", ["01", "09", "14"])
def test_another_version_is_refused(version: str) -> None:
    with pytest.raises(BadReport, match=r"from .001.02 to .001.08"):
        read(camt(version=version))


@pytest.mark.parametrize(
    "text",
    [
        camt().replace("?>\n", "?>\n<!DOCTYPE a [<!ENTITY b 'bbbb'><!ENTITY c '&b;&b;&b;'>]>\n", 1),
        camt().replace("?>\n", "?>\n<!DOCTYPE a SYSTEM 'file:///etc/passwd'>\n", 1),
    ],
    ids=["entities", "external"],
)
def test_a_document_type_is_refused(text: str) -> None:
    with pytest.raises(BadReport, match="document type"):
        read(text)


def test_an_entity_that_nobody_declared_and_a_file_that_is_cut_off_are_refused_with_the_line() -> None:
    for text in (camt(entry("1.00")).replace("<Id>S-1", "<Id>&x;"), camt(entry("1.00"))[:-40]):
        with pytest.raises(BadReport, match=r"line \d+: it is no whole XML"):
            read(text)


def test_an_entry_that_cannot_be_read_hinders_no_other_and_is_named() -> None:
    bad = [entry("1.001"), entry("1.00", day="2026-13-01"), entry("1.00", Amt="<Amt Ccy='pesos'>1</Amt>")]
    [statement] = read(camt(entry("2.00"), *bad, entry("3.00")))
    assert [line.kind for line in statement.lines] == ["booked", "unread", "unread", "unread", "booked"]
    assert [line.word[:13] for line in statement.lines[1:4]] == [f"line {n}, entry"[:13] for n in (5, 6, 7)]


@pytest.mark.parametrize(
    ("written", "amount"),
    [
        ("000000000000000149.87", 14_987),
        ("1000", 100_000),
        (".50", 50),
        ("10.", 1_000),
        ("7.5", 750),
        ("1<!-- -->2<?a?>3", 12_300),
    ],
)
def test_an_amount_is_any_decimal_of_the_schema(written: str, amount: int) -> None:
    assert amounts(camt(entry(written))) == [amount]


def test_what_is_not_booked_is_no_movement() -> None:
    pending = [entry("1.00", Sts=f"<Sts>{text}</Sts>") for text in ("PDNG", "INFO", "<Cd>PDNG</Cd>")]
    booked = [entry("2.00", Sts="<Sts>BOOK</Sts>"), entry("3.00", Sts="")]
    assert amounts(camt(*pending, *booked, kind="052")) == [200, 300]


def test_a_day_may_have_a_time_and_be_that_of_value() -> None:
    moment = "<BookgDt><DtTm>2026-11-25T10:15:00+08:00</DtTm></BookgDt>"
    value = "<ValDt><Dt>2026-11-24</Dt></ValDt>"
    [statement] = read(camt(entry("1.00", BookgDt=moment), entry("1.00", BookgDt=value)))
    assert [f"{line.booked_at:%d}" for line in statement.lines] == ["25", "24"]
    assert f"{statement.first_day} {statement.last_day}" == "2026-11-24 2026-11-26"


def test_a_batch_is_its_payments_where_the_bank_lists_their_amounts_and_else_one_movement() -> None:
    other = OURS.replace("0195", "0196")
    listed = entry("-300.00", details(OURS, other, amount="150.00"))
    without = entry("-300.00", details(OURS, other))
    summed = entry("-300.00", f"<NtryDtls><Btch><PmtInfId>{OURS}</PmtInfId><NbOfTxs>7</NbOfTxs></Btch></NtryDtls>")
    [statement] = read(camt(listed, without, summed))
    found = [(line.reference, line.amount, line.word) for line in statement.lines]
    one = [(OURS, -15_000, ""), (other, -15_000, "")]
    assert found == [*one, ("", -30_000, "batch of 2"), (OURS, -30_000, "batch of 7")]


def test_fees_within_an_entry_are_part_of_what_the_bank_booked() -> None:
    assert amounts(camt(entry("-1526.00", details(OURS, amount="1500.00")))) == [-152_600]


def test_a_payment_of_a_batch_may_go_the_other_way() -> None:
    back = "<TxDtls><Amt Ccy='PHP'>25.00</Amt><CdtDbtInd>DBIT</CdtDbtInd></TxDtls>"
    there = "<TxDtls><AmtDtls><TxAmt><Amt Ccy='PHP'>100.00</Amt></TxAmt></AmtDtls></TxDtls>"
    assert amounts(camt(entry("75.00", f"<NtryDtls>{there}{back}</NtryDtls>"))) == [10_000, -2_500]


@pytest.mark.parametrize(("closing", "amount"), [("990.00", -1_000), ("1010.00", 1_000)])
def test_the_balances_decide_which_way_a_reversal_went(closing: str, amount: int) -> None:
    """The standard gives a reversal the sign of its booking; some banks that of what it reverses."""
    [statement] = read(camt(entry("-10.00", RvslInd="<RvslInd>true</RvslInd>"), closing=closing))
    assert ([line.amount for line in statement.lines], statement.off) == ([amount], 0)


def test_balances_that_do_not_add_up_are_said_with_the_difference() -> None:
    [statement] = read(camt(entry("5.00"), closing="1006.00"))
    assert statement.off == -100


def test_the_closing_balance_of_the_day_before_opens_and_pages_have_intermediate_balances() -> None:
    previous = camt(entry("5.00"), closing="1005.00").replace("OPBD", "PRCD")
    page = camt(entry("5.00"), closing="1005.00").replace("OPBD", "ITBD").replace("CLBD", "ITBD")
    debit = camt(entry("5.00"), opening="-5.00", closing="0")
    available = camt(entry("5.00"), closing="1005.00").replace(
        "<Ntry>", balance("CLAV", "7.00", "2026-11-26") + "<Ntry>", 1
    )
    for text in (previous, page, debit, available):
        [statement] = read(text)
        assert (statement.closing, statement.off) == ((statement.opening or 0) + 500, 0)


@pytest.mark.parametrize("reason", ["AC04", "MD07"])
def test_a_return_has_the_reason_of_the_bank(reason: str) -> None:
    [statement] = read(camt(entry("100.00", details(OURS, reason=reason))))
    assert [(line.reference, line.amount, line.word) for line in statement.lines] == [(OURS, 10_000, reason)]


def test_our_name_is_found_in_capitals_with_hyphens_and_in_the_text() -> None:
    hyphens = f"{OURS[:8]}-{OURS[8:12]}-{OURS[12:16]}-{OURS[16:20]}-{OURS[20:]}"
    texts = [details(OURS.upper()), details(hyphens), details("NOTPROVIDED", text=f"Payout {OURS}")]
    texts.append(details(OURS, path="PmtInfId"))
    [statement] = read(camt(*(entry("-1.00", each) for each in texts)))
    assert {line.reference for line in statement.lines} == {OURS}


def test_an_envelope_other_prefixes_and_a_namespace_of_others_change_nothing() -> None:
    plain = camt(entry("1.00"))
    inside = plain.partition("\n")[2]
    envelope = f"<?xml version='1.0'?><Box xmlns='urn:bank'>{inside}</Box>"
    prefixed = re.sub(r"<(/?)(?=[A-Z])", r"<\1n:", plain.replace("xmlns=", "xmlns:n="))
    swiss = plain.replace(
        "urn:iso:std:iso:20022:tech:xsd:camt.053.001.08", "http://www.six.example/camt.053.001.04.xsd"
    )
    for text in (envelope, prefixed, swiss):
        assert amounts(text) == [100]


@pytest.mark.parametrize("encoding", ["UTF-8", "ISO-8859-1", "windows-1252", "UTF-16"])
def test_the_encoding_that_is_declared_is_used(encoding: str) -> None:
    text = camt(entry("1.00", details("", text="Señor"))).replace("'UTF-8'", f"'{encoding}'")
    [statement] = read(decode(text.encode(encoding), 1_000_000))
    assert [line.text for line in statement.lines] == ["Señor"]


def test_two_accounts_in_one_message_are_two_statements() -> None:
    first, second = camt(entry("1.00")), camt(entry("2.00"), number="9999")
    inside = second[second.index("<Stmt>") : second.index("</Stmt>") + 7]
    found = read(first.replace("</Stmt>", f"</Stmt>{inside}"))
    assert [(each.number[-4:], [line.amount for line in each.lines]) for each in found] == [
        ("4455", [100]),
        ("9999", [200]),
    ]
