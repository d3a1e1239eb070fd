"""Statements in SWIFT's MT940, as banks write them: with an envelope, a letterhead or neither, and fields of lines."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime
from itertools import chain

from payments.domain.reconciliation.bank.statements import ReadStatement, amount_of, day_in, line_of, our_name, shown
from payments.domain.reconciliation.cells import read_currency
from payments.domain.reconciliation.files import PROGRESS_EVERY, BadReport
from payments.providers.settlement_reports import SettlementLine

FIELD = re.compile(r"(?:\{[^:]+:.*)?:([0-9]{2}[A-Z]?):(.*)")
END = re.compile(r"-\}?\s*")
HEAD = re.compile(r"^(?:\{.*)?:20:", re.MULTILINE)
BALANCE = re.compile(r"([CD])([0-9]{6})([A-Z]{3})([0-9]{1,15})(?:,([0-9]*))?")
# Value date, entry date (or blanks), side, third letter of the currency, amount, type, and references.
ENTRY = re.compile(
    r"([0-9]{6})([0-9]{4}| {4})?(R?[CD])([A-Z])?([0-9]{1,15}),([0-9]*)([A-Z][A-Z0-9]{3})?(.*)", re.DOTALL
)
SIDES = {"C": 1, "D": -1, "RC": -1, "RD": 1}
RETURNED, REASON = re.compile(r"/RTRN/|^(?:109|159)\?"), re.compile(r"\b[A-Z]{2}[0-9]{2}\b")
# German banks cut the text into parts wherever it is full.
PART = re.compile(r"\?[0-9]{2}")


def is_one(text: str) -> bool:
    """Return whether `text` may be an MT940."""
    return bool(HEAD.search(text[:4_000]))


def read(text: str, progress: Callable[[int], None]) -> list[ReadStatement]:
    """Return the statements of a file. `progress` gets the number of movements. Raise BadReport."""
    found, count = list[ReadStatement](), 0
    for number, name, value in chain(_fields(text), [(text.count("\n"), "20", "")]):
        if name == "20":
            if found and found[-1].closing is None:
                raise BadReport(f"line {number}: the statement before it has no closing balance, so it is not whole")
            found.append(ReadStatement(shown(value), ""))
        elif not found:
            raise BadReport(f"line {number}: the field {name} stands before any statement")
        elif name == "61":
            count += 1
            found[-1].lines.append(_entry(found[-1], value, number))
            if not count % PROGRESS_EVERY:
                progress(count)
        elif name == "86" and found[-1].lines and found[-1].closing is None:
            found[-1].lines[-1] = _described(found[-1].lines[-1], value)
        else:
            _head(found[-1], name, value.strip(), number)
    progress(count)
    return found[:-1]


def _fields(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield each field with the line on which it begins; one continues until the next, or the message's end."""
    began, name, parts = 0, "", list[str]()
    for number, line in enumerate(chain(text.splitlines(), "-"), 1):
        field = FIELD.match(line)
        if field or END.fullmatch(line):
            if name:
                yield began, name, "\n".join(parts)
            began, name, parts = (number, field[1], [field[2]]) if field else (number, "", [])
        elif line.strip():
            parts.append(line.rstrip())


def _head(statement: ReadStatement, name: str, value: str, number: int) -> None:
    """Read a field of the statement itself; those that say nothing of its movements are left out."""
    if name == "25":
        # Some banks write the currency after the account's number.
        statement.number = re.sub(r"(?<=[0-9])\s*[A-Z]{3}$", "", value)
    elif name in ("28", "28C"):
        statement.name = shown(f"{statement.name} {value}")
    elif name in ("60F", "60M", "62F", "62M"):
        try:
            balance = _parts(BALANCE, value, "a balance such as C261130EUR1234,50")
            statement.currency = read_currency(balance[2])
            amount = SIDES[balance[0]] * amount_of(f"{balance[3]}.{balance[4] or ''}", balance[2])
            # Some banks write no day before the first movement.
            day = _day(balance[1]) if balance[1] != "000000" else None
        except ValueError as fault:
            raise BadReport(f"line {number}: {fault}") from None
        if name.startswith("60"):
            statement.opening, statement.first_day = amount, day
        else:
            statement.closing, statement.last_day = amount, day


def _entry(statement: ReadStatement, value: str, number: int) -> SettlementLine:
    try:
        what = "a movement such as 2611301130D12,50NTRFNONREF"
        valued, entered, side, _, whole, rest, kind, after = _parts(ENTRY, value, what)
        day = _entered(_day(valued), (entered or "").strip())
        amount = SIDES[side] * amount_of(f"{whole}.{rest}", read_currency(statement.currency))
    except ValueError as fault:
        return SettlementLine.unread("", "", f"line {number}: {fault}", number)
    first, _, text = after.partition("\n")
    reference, _, ref = first.partition("//")
    names = [reference.strip().replace("NONREF", "")]
    return line_of(amount, statement.currency, day, names, ref, [text], "returned" if kind == "NRTI" else "", number)


def _described(line: SettlementLine, value: str) -> SettlementLine:
    """Return a movement with the text of the field below it."""
    is_return = line.word or RETURNED.search(value)
    reason = REASON.search(value)
    return replace(
        line,
        reference=our_name(PART.sub("", value)) or line.reference,
        word=line.word if not is_return or not line.booked_at else reason[0] if reason else "returned",
        text=shown(f"{line.text} {PART.sub(' ', value)}"),
    )


def _parts(pattern: re.Pattern[str], value: str, what: str) -> Sequence[str]:
    if not (found := pattern.fullmatch(value)):
        raise ValueError(f"must be {what}")
    return found.groups()


def _day(text: str) -> date:
    return day_in(datetime.strptime(text, "%y%m%d").date())  # noqa: DTZ007 # a day


def _entered(valued: date, entered: str) -> date:
    """Return the day of the entry, whose year is not written: the one next to the value date."""
    years = (valued.year - 1, valued.year, valued.year + 1) if entered else ()
    days = [_day(f"{year % 100:02}{entered}") for year in years if entered != "0229" or not year % 4]
    return min(days, key=lambda day: abs(day - valued), default=valued)
