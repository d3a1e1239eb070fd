"""A bank file: ISO 20022 `pain.001.001.09` (customer credit transfer initiation), checked against its schema.

The schema beside this module is ISO 20022's own, free to use, from the message archive of iso20022.org.
"""

from collections.abc import Iterable
from datetime import UTC
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

from lxml import etree
from lxml.builder import ElementMaker
from stdnum import iban

from payments.bank_accounts import plain_name
from payments.ids import public_id
from payments.models import Payout, PayoutFile
from payments.money import major_units

NAMESPACE = "urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"
SCHEMA = Path(__file__).with_name("pain.001.001.09.xsd")
E: Any = ElementMaker(namespace=NAMESPACE, nsmap={None: NAMESPACE})


class BadFile(Exception):
    """The file is not as the schema has it; the message names what, and no account number, and what to do."""


class Transfer(NamedTuple):
    """A payout, read with its account, and the number of that account."""

    payout: Payout
    number: str


def render(file: PayoutFile, debtor_number: str, transfers: Iterable[Transfer]) -> bytes:
    """Return the file as XML, the same bytes each time. Raise BadFile unless the schema allows it."""
    debtor = plain_name(file.debtor_name)
    moment = f"{file.created_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    head = E.GrpHdr(E.MsgId(file.id.hex), E.CreDtTm(moment), *_sums(file), E.InitgPty(E.Nm(debtor)))
    payment = E.PmtInf(
        E.PmtInfId(file.id.hex),
        E.PmtMtd("TRF"),
        *_sums(file),
        E.ReqdExctnDt(E.Dt(file.execute_on.isoformat())),
        E.Dbtr(E.Nm(debtor)),
        E.DbtrAcct(_account(debtor_number), E.Ccy(file.currency)),
        E.DbtrAgt(_bank(file.debtor_bic)),
        *(_transfer(transfer) for transfer in transfers),
    )
    document = E.Document(E.CstmrCdtTrfInitn(head, payment))
    _check(document)
    content: bytes = etree.tostring(document, xml_declaration=True, encoding="UTF-8", pretty_print=True)
    return content


def _transfer(transfer: Transfer) -> Any:
    payout, account = transfer.payout, transfer.payout.account
    return E.CdtTrfTxInf(
        # An ID without its prefix, whose underscore is not in the character set.
        E.PmtId(E.EndToEndId(payout.id.hex)),
        E.Amt(E.InstdAmt(_decimal(payout.amount, payout.currency), Ccy=payout.currency)),
        E.CdtrAgt(_bank(account.bic)),
        E.Cdtr(E.Nm(plain_name(account.holder))),
        E.CdtrAcct(_account(transfer.number)),
    )


def _sums(file: PayoutFile) -> Iterable[Any]:
    return E.NbOfTxs(str(file.count)), E.CtrlSum(_decimal(file.total, file.currency))


def _account(number: str) -> Any:
    return E.Id(E.IBAN(number)) if iban.is_valid(number) else E.Id(E.Othr(E.Id(number)))


def _bank(bic: str) -> Any:
    return E.FinInstnId(E.BICFI(bic))


def _decimal(amount: int, currency: str) -> str:
    """Return an amount in whole units with the currency's decimals: 1234.50 for 123450 centavos."""
    return f"{major_units(amount, currency):f}"


def _check(document: Any) -> None:
    """Raise BadFile with the element that is wrong, and its payout; the schema's own message would show the value."""
    schema = etree.XMLSchema(etree.parse(SCHEMA, etree.XMLParser(resolve_entities=False, no_network=True)))
    if schema.validate(document):
        return
    [wrong] = document.xpath(schema.error_log[0].path)
    transfer = next(wrong.iterancestors(f"{{{NAMESPACE}}}CdtTrfTxInf"), None)
    owner = "the file itself"
    if transfer is not None:
        owner = public_id("po", UUID(hex=transfer.findtext(f".//{{{NAMESPACE}}}EndToEndId")))
    what = f"The element {etree.QName(wrong).localname} of {owner} is not as the bank's schema has it."
    raise BadFile(f"{what} Cancel this file, and make another: it leaves out what no bank can write.")
