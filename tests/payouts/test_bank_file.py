"""A bank file is ISO 20022, and says of each payout what is stored of it."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from payments.bank_accounts import obstacle, plain_name
from payments.domain.payouts import bank_file
from payments.domain.payouts.bank_file import BadFile, Transfer, render
from payments.ids import new_id
from payments.models import Payout, PayoutAccount, PayoutFile
from payments.money import CURRENCIES
from tests.payouts.live import DEBTOR_IBAN, DEBTOR_NUMBER, NUMBER

EXAMPLE = Path(__file__).with_name("example.xml")
MOMENT = datetime(2026, 11, 24, 9, 30, tzinfo=UTC)
# Of ISO 4217: how many decimals.
DECIMALS = {"JPY": 0, "PHP": 2, "KWD": 3, "CLF": 4}
# Others are refused where they are typed, and left out of files.
HOLDERS = st.text(min_size=1, max_size=70).filter(lambda holder: not obstacle(holder, "BNORPHMM"))
IN_FILE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-?:().,'+ ")


def transfer(amount: int, currency: str = "PHP", holder: str = "Sari Store", number: str = NUMBER) -> Transfer:
    account = PayoutAccount(currency=currency, holder=holder, bic="BNORPHMM", country="PH")
    return Transfer(Payout(id=new_id(), account=account, amount=amount, currency=currency, livemode=True), number)


def file_of(transfers: list[Transfer], currency: str = "PHP") -> PayoutFile:
    return PayoutFile(
        currency=currency,
        count=len(transfers),
        total=sum(transfer.payout.amount for transfer in transfers),
        execute_on=date(2026, 11, 25),
        debtor_name="Kaha Philippines Inc.",
        debtor_bic="BNORPHMM",
        created_at=MOMENT,
    )


def read(content: bytes) -> Any:
    """Return the document, which the schema must allow."""
    document = etree.fromstring(content)
    etree.XMLSchema(etree.parse(bank_file.SCHEMA)).assertValid(document)
    return document


def texts(document: Any, name: str) -> list[str]:
    return [element.text for element in document.iter(f"{{{bank_file.NAMESPACE}}}{name}")]


def minor(text: str, currency: str) -> int:
    """Return a decimal in the smallest unit by moving its point, with exactly the currency's decimals."""
    whole, _, cents = text.partition(".")
    assert len(cents) == DECIMALS[currency], text
    return int(whole + cents)


@pytest.mark.long
@given(
    currency=st.sampled_from(sorted(DECIMALS)),
    payouts=st.lists(st.tuples(st.integers(1, 10**14), HOLDERS), min_size=1, max_size=8),
)
def test_every_file_is_valid_and_its_sums_are_those_of_its_payouts(
    currency: str, payouts: list[tuple[int, str]]
) -> None:
    transfers = [transfer(amount, currency, holder) for amount, holder in payouts]
    document = read(render(file_of(transfers, currency), DEBTOR_NUMBER, transfers))
    amounts = [minor(text, currency) for text in texts(document, "InstdAmt")]
    assert amounts == [amount for amount, _ in payouts]
    assert [minor(text, currency) for text in texts(document, "CtrlSum")] == [sum(amounts)] * 2
    assert texts(document, "NbOfTxs") == [str(len(payouts))] * 2
    assert texts(document, "EndToEndId") == [each.payout.id.hex for each in transfers]
    assert all(set(name) <= IN_FILE and 1 <= len(name) <= 70 for name in texts(document, "Nm"))


@pytest.mark.long
def test_a_file_is_valid_in_every_currency() -> None:
    for currency in sorted(CURRENCIES):
        transfers = [transfer(123_456, currency)]
        document = read(render(file_of(transfers, currency), DEBTOR_NUMBER, transfers))
        assert [text.replace(".", "") for text in texts(document, "InstdAmt")] == ["123456"], currency


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [
        (1, "JPY", "1"),
        (1, "PHP", "0.01"),
        (123_450, "PHP", "1234.50"),
        (1, "KWD", "0.001"),
        (10**15, "KWD", f"1{'0' * 12}.000"),
    ],
)
def test_an_amount_has_the_decimals_of_its_currency(amount: int, currency: str, text: str) -> None:
    transfers = [transfer(amount, currency)]
    assert texts(read(render(file_of(transfers, currency), DEBTOR_NUMBER, transfers)), "InstdAmt") == [text]


@pytest.mark.parametrize(
    ("typed", "plain"),
    [
        ("Niño & Söhne", "Nino + Sohne"),
        ("Sari_Store <b>", "Sari-Store b"),
        ("日本", "RiBen"),
        ("line\nend\x00", "line end"),
        ("x" * 71, "x" * 70),
    ],
)
def test_a_name_is_written_in_the_characters_that_banks_take(typed: str, plain: str) -> None:
    assert plain_name(typed) == plain


def test_an_iban_is_written_as_one_and_any_other_number_as_what_it_is() -> None:
    transfers = [transfer(1, "EUR", number=DEBTOR_IBAN), transfer(1, "EUR", number="DE00370400440532013000")]
    document = read(render(file_of(transfers, "EUR"), DEBTOR_NUMBER, transfers))
    assert texts(document, "IBAN") == [DEBTOR_IBAN]
    assert len(list(document.iter(f"{{{bank_file.NAMESPACE}}}Othr"))) == 2


def test_a_file_that_the_schema_forbids_names_element_and_payout_and_no_number() -> None:
    transfers = [transfer(1), transfer(1, number="0" * 35)]
    with pytest.raises(BadFile) as refusal:
        render(file_of(transfers), DEBTOR_NUMBER, transfers)
    assert f"Id of po_{transfers[1].payout.id.hex} " in str(refusal.value)
    assert "0" * 35 not in str(refusal.value)


def test_a_file_without_a_debtor_is_refused() -> None:
    file = file_of([transfer(1)])
    file.debtor_bic = ""
    with pytest.raises(BadFile, match="BICFI of the file itself"):
        render(file, DEBTOR_NUMBER, [transfer(1)])


def test_the_bytes_of_a_file_stay_as_they_are() -> None:
    """A bank may compare a file that it is sent again; another version of kaha makes the same bytes."""
    transfers = [transfer(123_450, holder="Niño & Söhne"), transfer(5, number="DE89370400440532013000")]
    file = file_of(transfers)
    file.id = UUID(int=1)
    for number, each in enumerate(transfers, 2):
        each.payout.id = UUID(int=number)
    assert render(file, DEBTOR_NUMBER, transfers) == EXAMPLE.read_bytes()
