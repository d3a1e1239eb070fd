"""What a bank's file says, in whatever format: its statements, their balances, and the movements that are booked."""

import codecs
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time
from uuid import UUID

from payments.domain.reconciliation.cells import YEARS, read_amount
from payments.domain.reconciliation.files import BadReport
from payments.providers.settlement_reports import Movement, SettlementLine

# Our names of payouts and of bank files, as `pain.001` has them; banks write them in capitals or with hyphens, too.
# They begin with the time, so digits before one are no part of it.
OURS = re.compile(r"0[12][0-9a-f]{10}7[0-9a-f]{3}[89ab][0-9a-f]{15}")
NOT_PRINTED = re.compile(r"[\x00-\x1f\x7f-\x9f\s]+")
DECLARED = re.compile(rb"""^\s*<\?xml[^>]{0,100}encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
ENCODINGS = ("utf-8", "us-ascii", "iso-8859-1", "iso-8859-15", "windows-1252", "utf-16")


@dataclass(slots=True)
class ReadStatement:
    """One statement of an account, with its movements. A notice, as camt.052 and camt.054 are, has no balances."""

    name: str
    number: str
    currency: str = ""
    first_day: date | None = None
    last_day: date | None = None
    opening: int | None = None
    closing: int | None = None
    lines: list[SettlementLine] = field(default_factory=list)

    @property
    def off(self) -> int:
        """Return by how much balances and movements differ; 0 where they add up, or one is not known."""
        if self.opening is None or self.closing is None:
            return 0
        return self.opening + sum(line.amount for line in self.lines) - self.closing

    def turn(self, reversals: Iterable[int]) -> None:
        """Turn the signs of these lines where only then the balances add up.

        A reversal has the sign of its own booking, says the standard; some banks give it that of what it reverses.
        """
        if self.off and self.off == 2 * sum(self.lines[place].amount for place in reversals):
            for place in reversals:
                self.lines[place] = replace(self.lines[place], amount=-self.lines[place].amount)


def decode(raw: bytes, most: int) -> str:
    """Return the text of a file by its byte order mark, its XML declaration, or else as UTF-8 or cp1252.

    Raise BadReport where it is larger than `most`, or no text.
    """
    if len(raw) > most:
        raise BadReport(f"it is larger than {most // 1024**2} MiB; split it by days")
    declared = DECLARED.match(raw[:200])
    named = declared[1].decode().lower() if declared else "utf-8"
    if named not in ENCODINGS:
        raise BadReport(f"line 1: its encoding must be one of {', '.join(ENCODINGS)}")
    named = "utf-16" if raw[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else named.replace("utf-8", "utf-8-sig")
    try:
        text = raw.decode(named)
    except UnicodeError:
        text = raw.decode("cp1252", errors="replace")
    if "\0" in text:
        raise BadReport("it is no text")
    return text


def line_of(
    amount: int,
    currency: str,
    day: date,
    references: Sequence[str],
    ref: str,
    texts: Iterable[str],
    word: str,
    row: int,
) -> SettlementLine:
    """Return a movement of the account: our name is among `references` or `texts`, and `ref` is the bank's own."""
    text = shown(" ".join(texts))
    names = [shown(name) for name in references if name and name != "NOTPROVIDED"]
    own = next(filter(None, map(our_name, [*names, text])), "")
    moment = datetime.combine(day, time(), UTC)
    reference = own or next(iter(names), "")
    return SettlementLine(reference, shown(ref), Movement.BOOKED, amount, currency, moment, word, row=row, text=text)


def our_name(text: str) -> str:
    """Return the name that we gave a payout or a bank file, wherever it stands in `text`; "" where there is none."""
    found = OURS.search(re.sub(r"[\s-]", "", text.lower()))
    return UUID(found[0]).hex if found else ""


def shown(text: str, most: int = 255) -> str:
    return NOT_PRINTED.sub(" ", text).strip()[:most]


def amount_of(text: str, currency: str) -> int:
    """Return an unsigned amount with a decimal point, also `000149.87`, `.5` and `10.`; raise ValueError."""
    whole, point, rest = text.strip().partition(".")
    return read_amount(f"{whole.lstrip('0') or '0'}{point if rest else ''}{rest}", currency)


def day_in(day: date) -> date:
    """Return `day`; raise ValueError where it is of no year in which a bank books."""
    if day.year not in YEARS:
        raise ValueError(f"must be a day of the years {YEARS[0]} to {YEARS[-1]}")
    return day
