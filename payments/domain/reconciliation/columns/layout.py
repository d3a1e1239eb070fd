"""What a layout says of a file: which column is what, and how cells are written. Adapts it to the readers of files."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any, ClassVar

from django.db.models import TextChoices

from payments.domain.reconciliation import cells
from payments.domain.reconciliation.bank.statements import line_of, shown
from payments.domain.reconciliation.cells import ReportRow
from payments.domain.reconciliation.columns.amounts import DATES, read_amount, read_time
from payments.models import OwnBankAccount
from payments.providers.settlement_reports import Movement, SettlementLine

MOST_KINDS, MOST_SKIPPED, NAME_LENGTH, WORD_LENGTH = 100, 20, 100, 40
# A long number as spreadsheets write it back, such as `1.23457E+17`.
LOST = re.compile(r"[0-9](?:[.,][0-9]+)?[eE]\+[0-9]{1,3}")
ENCODINGS = ("utf-8", "windows-1252", "iso-8859-15", "utf-16-le", "utf-16-be", "shift_jis", "big5", "gb18030")


class Role(TextChoices):
    """What a column is."""

    REFERENCE = "reference"
    PROVIDER_REF = "provider_ref", "Their reference"
    DATE = "date"
    AMOUNT = "amount"
    DEBIT = "debit"
    CREDIT = "credit"
    SIDE = "side", "Debit or credit"
    FEE = "fee"
    NET = "net"
    CURRENCY = "currency"
    KIND = "kind"
    TEXT = "text"


class Meaning(TextChoices):
    """What a word of the column `kind` means."""

    CHARGE = "charge"
    REFUND = "refund"
    DISPUTE = "dispute"
    FEE = "fee"
    PAYOUT = "payout"
    OTHER = "other"


class Signs(TextChoices):
    """Which way money went."""

    WRITTEN = "written", "as written: what came is positive"
    REVERSED = "reversed", "reversed: what came is negative"
    KIND = "kind", "by the kind: all amounts are positive"


# A fee moves no payment, so a report's rows of fees are left out.
MOVEMENTS = {
    Meaning.CHARGE: Movement.CAPTURE,
    Meaning.REFUND: Movement.REFUND,
    Meaning.DISPUTE: Movement.DISPUTE,
    Meaning.PAYOUT: Movement.PAYOUT,
    Meaning.OTHER: Movement.OTHER,
}
CAME_BACK = {Movement.REFUND: Movement.REFUND_RETURNED, Movement.DISPUTE: Movement.DISPUTE_WON}
OUTWARD = {Meaning.REFUND, Meaning.DISPUTE, Meaning.FEE, Meaning.PAYOUT}
# The words of a column `side` in the languages of banks.
DEBITS = {"d", "dr", "db", "debit", "s", "soll", "out", "withdrawal", "af", "lastschrift", "cargo", "débito", "-"}
CREDITS = {"c", "cr", "credit", "h", "haben", "in", "deposit", "bij", "gutschrift", "abono", "crédito", "+"}


@dataclass(frozen=True, slots=True)
class ColumnLayout:
    """The layout of a file in CSV or Xlsx.

    `columns` has the header of each role's column, or its number from 1 where the file `has_header` not. `kinds` has
    the meaning of each word of the column `kind`, as `folded`. `dates` is one of DATES, and `decimal` a point or comma.
    A row whose first filled cell begins with one of `skipped` is none. `currency` is that of a file without its column.
    """

    columns: Mapping[Role, str]
    kinds: Mapping[str, Meaning]
    dates: str
    decimal: str = "."
    signs: Signs = Signs.WRITTEN
    encoding: str = "utf-8"
    has_header: bool = True
    skipped: tuple[str, ...] = ()
    sheet: str = ""
    currency: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"skipped": list(self.skipped)}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "ColumnLayout":
        """Return the layout that `as_json` wrote."""
        columns = {Role(role): name for role, name in found["columns"].items()}
        kinds = {word: Meaning(meaning) for word, meaning in found["kinds"].items()}
        typed = {"columns": columns, "kinds": kinds, "signs": Signs(found["signs"]), "skipped": (*found["skipped"],)}
        return cls(**{**found, **typed})

    def check(self, is_bank: bool) -> None:
        """Raise ValueError where a file cannot be read by it, with the role or setting that is missing."""
        has = self.columns.keys()
        if Role.DATE not in has:
            raise ValueError("Name the column of the date.")
        if {Role.DEBIT, Role.CREDIT} & has and {Role.AMOUNT, Role.SIDE} & has:
            raise ValueError("Name one column of the amount, or one of debits and one of credits.")
        if len({Role.DEBIT, Role.CREDIT} & has) == 1 or not {Role.AMOUNT, Role.DEBIT, Role.NET} & has:
            raise ValueError("Name the column of the amount, or those of debits and credits.")
        if Role.AMOUNT not in has and Role.NET in has and Role.FEE not in has and Role.DEBIT not in has:
            raise ValueError("Name the column of the amount before fees, or that of the fee.")
        if self.signs is Signs.KIND and Role.KIND not in has:
            raise ValueError("Name the column of the kind, which says which way money went.")
        if not is_bank and not {Role.REFERENCE, Role.PROVIDER_REF} & has:
            raise ValueError("Name the column of the reference.")
        if not is_bank and Role.CURRENCY not in has and not self.currency:
            raise ValueError("Name the column of the currency, or the currency.")

    def facts(self) -> list[tuple[str, str]]:
        """Return each setting in words."""
        named = [(role.label, name) for role, name in self.columns.items()]
        named += [(f"kind “{word}”", meaning) for word, meaning in self.kinds.items()]
        named += [("dates", f"as {DATES[self.dates]}"), ("decimals", "comma" if self.decimal == "," else "point")]
        named += [("signs", self.signs.label), ("encoding", self.encoding)]
        named += [("header", "by its names" if self.has_header else "none: columns are numbered from 1")]
        others = [("rows left out", ", ".join(self.skipped)), ("sheet", self.sheet), ("currency", self.currency)]
        return named + [(name, value) for name, value in others if value]

    def cell(self, row: ReportRow, role: Role) -> str:
        """Return the cell of a role; "" where the file has no such column."""
        return row.cells[self.columns[role]].strip() if role in self.columns else ""

    def currency_of(self, row: ReportRow, other: str) -> str:
        """Return the currency of a row, or the `other` where its cell is empty or there is no such column."""
        if not self.cell(row, Role.CURRENCY) and other:
            return other
        return row.read(self.columns[Role.CURRENCY], lambda text: cells.read_currency(text.strip().upper()))

    def time(self, row: ReportRow) -> datetime:
        return row.read(self.columns[Role.DATE], lambda text: read_time(text, self.dates))

    def meaning(self, row: ReportRow) -> Meaning | None:
        """Return what the row's kind means: OTHER for a word that is not known, None without such a column."""
        return self.kinds.get(folded(self.cell(row, Role.KIND)), Meaning.OTHER) if Role.KIND in self.columns else None

    def amount(self, row: ReportRow, currency: str, meaning: Meaning | None) -> int:
        """Return the signed amount before fees: what came is positive. Raise ValueError."""
        found = {role: self._read(row, role, currency) for role in (Role.DEBIT, Role.CREDIT, Role.FEE, Role.NET)}
        debit, credit, fee, net = found.values()
        if Role.DEBIT in self.columns:
            if debit and credit:
                raise ValueError(
                    f"column {self.columns[Role.DEBIT]}: must be empty, or {self.columns[Role.CREDIT]} must"
                )
            return credit - abs(debit)
        main = Role.AMOUNT if Role.AMOUNT in self.columns else Role.NET
        if not self.cell(row, main):
            raise ValueError(f"column {self.columns[main]}: must be there")
        if main is Role.NET:
            if fee and meaning not in (None, Meaning.CHARGE):
                raise ValueError(f"column {self.columns[Role.FEE]}: the amount before it is not known")
            return self._signed(row, net, meaning) + abs(fee)
        amount = self._read(row, Role.AMOUNT, currency)
        if {Role.FEE, Role.NET} <= self.columns.keys() and abs(net) not in (abs(amount + fee), abs(amount - fee)):
            raise ValueError(f"column {self.columns[Role.NET]}: amount, fee and net do not add up")
        return self._signed(row, amount, meaning)

    def _read(self, row: ReportRow, role: Role, currency: str) -> int:
        if not self.cell(row, role):
            return 0
        return row.read(self.columns[role], lambda text: read_amount(text, currency, self.decimal))

    def _signed(self, row: ReportRow, amount: int, meaning: Meaning | None) -> int:
        if Role.SIDE in self.columns:
            return amount if row.read(self.columns[Role.SIDE], _side) > 0 else -abs(amount)
        if self.signs is Signs.KIND:
            if amount > 0 and folded(self.cell(row, Role.KIND)) not in self.kinds:
                raise ValueError(f"column {self.columns[Role.KIND]}: must be a word of the layout, which says the way")
            return -abs(amount) if meaning in OUTWARD else amount
        return -amount if self.signs is Signs.REVERSED else amount


@dataclass(frozen=True, slots=True)
class AnyReport:
    """A provider's report in a layout of ours. It covers no period, because nobody knows what it leaves out."""

    provider: str
    layout: ColumnLayout

    title: ClassVar = "report"
    zone: ClassVar[tzinfo] = UTC
    covers_days: ClassVar = False

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.layout.columns.values()))

    def names_in(self, row: ReportRow) -> tuple[str, str]:
        ours, theirs = (self._reference(row, role) for role in (Role.REFERENCE, Role.PROVIDER_REF))
        return ours, theirs

    def line(self, row: ReportRow) -> SettlementLine | None:
        meaning = self.layout.meaning(row)
        if meaning is Meaning.FEE:
            return None
        currency = self.layout.currency_of(row, self.layout.currency)
        amount = self.layout.amount(row, currency, meaning)
        booked_at, names = self.layout.time(row), self.names_in(row)
        if not amount:
            return None
        word = self.layout.cell(row, Role.KIND)
        return SettlementLine(*names, _movement(meaning, amount), amount, currency, booked_at, shown(word, WORD_LENGTH))

    def _reference(self, row: ReportRow, role: Role) -> str:
        return row.read(self.layout.columns[role], _reference) if role in self.layout.columns else ""


@dataclass(frozen=True, slots=True)
class AnyStatement(AnyReport):
    """Movements of a bank account of ours in a layout of ours, without balances."""

    account: OwnBankAccount

    def names_in(self, row: ReportRow) -> tuple[str, str]:
        return self.layout.cell(row, Role.REFERENCE), self.layout.cell(row, Role.PROVIDER_REF)

    def line(self, row: ReportRow) -> SettlementLine | None:
        currency = self.layout.currency_of(row, self.account.currency)
        if currency != self.account.currency:
            return None
        meaning = self.layout.meaning(row)
        amount = self.layout.amount(row, currency, meaning)
        day, (reference, ref) = self.layout.time(row).date(), self.names_in(row)
        texts = [self.layout.cell(row, Role.TEXT), self.layout.cell(row, Role.KIND)]
        # A payout that comes is one that comes back.
        word = "returned" if meaning is Meaning.PAYOUT and amount > 0 else ""
        return line_of(amount, currency, day, [reference], ref, texts, word, 0) if amount else None


def folded(word: str) -> str:
    """Return a word in small letters, with one blank between its parts and none around it."""
    return " ".join(word.split()).casefold()


def begins(text: str, words: Iterable[str]) -> bool:
    """Return whether a folded text begins with one of these words, whole: `summer` does not begin with `sum`."""
    return any(text.startswith(word) and not f"{text} "[len(word) - 1 : len(word) + 1].isalnum() for word in words)


def is_left_out(cells: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether the first filled cell begins with one of `words`, or another is one of them."""
    texts = [*filter(None, map(folded, cells))]
    return bool(texts) and (begins(texts[0], words) or not {*words}.isdisjoint(texts))


def _movement(meaning: Meaning | None, amount: int) -> Movement:
    """Return the movement, or OTHER instead of a guess."""
    if meaning is None:
        return Movement.CAPTURE if amount > 0 else Movement.REFUND
    movement = MOVEMENTS[meaning]
    if movement.sign * amount < 0:
        return CAME_BACK.get(movement, Movement.OTHER)
    return movement


def _side(text: str) -> int:
    word = folded(text).rstrip(".")
    if word not in DEBITS | CREDITS:
        raise ValueError("must be debit or credit, such as D and C")
    return 1 if word in CREDITS else -1


def _reference(text: str) -> str:
    """Return a reference; raise ValueError where a spreadsheet has lost digits of it."""
    text = cells.read_reference(text.strip())
    if LOST.fullmatch(text):
        raise ValueError("a spreadsheet has lost digits of it: make its column text")
    return text
