"""Statements in ISO 20022: camt.053, and the notices camt.052 and camt.054, in the versions .001.02 to .001.08."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from io import BytesIO
from typing import Any

from lxml import etree

from payments.domain.reconciliation.bank.statements import ReadStatement, amount_of, day_in, line_of, shown
from payments.domain.reconciliation.cells import read_currency
from payments.domain.reconciliation.files import PROGRESS_EVERY, BadReport
from payments.providers.settlement_reports import SettlementLine

# Some banks name the namespace after another authority, and put the document into an envelope.
VERSION = re.compile(r"camt\.05[234]\.001\.([0-9]{2})")
VERSIONS = range(2, 9)
STATEMENTS = ("Stmt", "Rpt", "Ntfctn")
DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
SIGNS = {"CRDT": 1, "DBIT": -1}
# Booked balances; the intermediate ones are those of a page of several.
OPENING, CLOSING = ("OPBD", "PRCD", "ITBD"), ("CLBD", "ITBD")


def check(text: str) -> None:
    """Raise BadReport unless `text` may be such a message. A document type is refused, and with it every entity."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise BadReport("it has a document type, which no bank writes, so it is not read")
    version = VERSION.search(text[:4_000])
    if not version or int(version[1]) not in VERSIONS:
        raise BadReport("line 1: must be camt.053, camt.052 or camt.054 in a version from .001.02 to .001.08")


def read(text: str, progress: Callable[[int], None]) -> list[ReadStatement]:
    """Return the statements of a message. `progress` gets the number of movements. Raise BadReport."""
    check(text)
    found, lines, reversals, count = list[ReadStatement](), list[SettlementLine](), list[int](), 0
    # The text is decoded already, whatever its declaration says.
    source = BytesIO(DECLARATION.sub("", text).encode("utf-8", "replace"))
    tags = [f"{{*}}{name}" for name in ("Ntry", *STATEMENTS)]
    # What stands after a comment belongs to the amount before it.
    plain: Any = {"resolve_entities": False, "no_network": True, "remove_comments": True, "remove_pis": True}
    try:
        for _, element in etree.iterparse(source, tag=tags, load_dtd=False, **plain):
            if etree.QName(element).localname in STATEMENTS:
                found.append(_statement(element, lines))
                found[-1].turn(reversals)
                lines, reversals = [], []
            for line in _lines(element, count + 1):
                count += 1
                if _at(element, "RvslInd") in ("true", "1"):
                    reversals.append(len(lines))
                lines.append(line)
                if not count % PROGRESS_EVERY:
                    progress(count)
            element.clear()
    except etree.XMLSyntaxError as fault:
        raise BadReport(f"line {fault.lineno}: it is no whole XML document") from None
    progress(count)
    return found


def _statement(element: Any, lines: list[SettlementLine]) -> ReadStatement:
    statement = ReadStatement(
        shown(_at(element, "Id")), _at(element, "Acct/Id/IBAN") or _at(element, "Acct/Id/Othr/Id")
    )
    statement.lines, statement.currency = lines, _at(element, "Acct/Ccy") or next((line.currency for line in lines), "")
    try:
        balances = [(_at(each, "Tp/CdOrPrtry/Cd"), each) for each in _all(element, "Bal")]
        opening = [each for code in OPENING for name, each in balances if name == code]
        closing = [each for code in CLOSING for name, each in reversed(balances) if name == code]
        days = [line.booked_at.date() for line in lines if line.booked_at]
        # Notices are no statements, whatever balances they have.
        if opening and closing and etree.QName(element).localname == "Stmt":
            (statement.currency, statement.opening), (_, statement.closing) = _money(opening[0]), _money(closing[0])
            days.append(_day(_at(closing[0], "Dt/*")))
        first, last = (_at(element, f"FrToDt/{name}") for name in ("FrDtTm", "ToDtTm"))
        statement.first_day = _day(first) if first else min(days, default=None)
        statement.last_day = _day(last) if last else max(days, default=None)
    except ValueError as fault:
        raise BadReport(f"line {element.sourceline}: the statement's head cannot be read: {fault}") from None
    return statement


def _lines(entry: Any, number: int) -> Iterator[SettlementLine]:
    """Yield the movements of an entry that is booked: one, or each of a batch that the bank lists in full."""
    if entry.find("{*}Amt") is None or (_at(entry, "Sts/Cd") or _at(entry, "Sts") or "BOOK") != "BOOK":
        return
    details, side = _all(entry, "NtryDtls/TxDtls"), _at(entry, "CdtDbtInd")
    try:
        currency, amount = _money(entry)
        day = _day(_at(entry, "BookgDt/*") or _at(entry, "ValDt/*"))
        parts = [_money(each, side) for each in details if _amounts(each)] if len(details) > 1 else []
    except ValueError as fault:
        yield SettlementLine.unread("", "", f"line {entry.sourceline}, entry {number}: {fault}", number)
        return
    whole = sum(part for its, part in parts if its == currency)
    if len(parts) == len(details) and all(part for _, part in parts) and parts and whole == amount:
        for place, (each, (_, part)) in enumerate(zip(details, parts, strict=True)):
            yield _line(entry, [each], [_at(each, "Refs/EndToEndId")], part, currency, day, number + place)
    elif amount:
        names = [{_at(each, f"Refs/{name}") for each in details} for name in ("EndToEndId", "PmtInfId", "MsgId")]
        # Of a batch, what all its payments have in common names it.
        common = [each.pop() for each in names if len(each) == 1]
        common += [_at(entry, f"NtryDtls/Btch/{name}") for name in ("PmtInfId", "MsgId")]
        yield _line(entry, details, common, amount, currency, day, number)


def _line(
    entry: Any, details: Sequence[Any], names: Sequence[str], amount: int, currency: str, day: date, number: int
) -> SettlementLine:
    texts = [_at(each, path) for each in details for path in ("RmtInf/Ustrd", "AddtlTxInf", "RtrInf/AddtlInf")]
    # Looked for once in a batch, which may have many payments.
    payments = _at(entry, "NtryDtls/Btch/NbOfTxs") if len(details) != 1 else ""
    is_batch = len(details) > 1 or (not details and payments.isdecimal() and int(payments) > 1)
    reasons = [_at(each, "RtrInf/Rsn/*") or "returned" for each in details if _all(each, "RtrInf")]
    word = f"batch of {payments or len(details)}" if is_batch else shown(next(iter(reasons), ""), 40)
    ref = _at(entry, "AcctSvcrRef") or next((_at(each, "Refs/AcctSvcrRef") for each in details), "")
    return line_of(amount, currency, day, names, ref, [*texts, _at(entry, "AddtlNtryInf")], word, number)


def _amounts(element: Any) -> list[Any]:
    return _all(element, "Amt") or _all(element, "AmtDtls/TxAmt/Amt")


def _money(element: Any, side: str = "") -> tuple[str, int]:
    """Return the currency and the signed amount of an entry, its part or a balance; raise ValueError."""
    found, side = _amounts(element), _at(element, "CdtDbtInd") or side
    if not found or side not in SIGNS:
        raise ValueError("must have an amount, and CRDT or DBIT")
    currency = read_currency(found[0].get("Ccy", ""))
    return currency, SIGNS[side] * amount_of(found[0].text or "", currency)


def _day(text: str) -> date:
    """Return the day of a date or a moment."""
    return day_in(date.fromisoformat(text[:10]))


def _all(element: Any, path: str) -> list[Any]:
    """Return the elements below `element`, in the namespace of any version."""
    return list(element.findall("/".join(f"{{*}}{name}" for name in path.split("/"))))


def _at(element: Any, path: str) -> str:
    """Return the text of the elements at `path`; "" where there is none."""
    return " ".join((each.text or "").strip() for each in _all(element, path)).strip()
