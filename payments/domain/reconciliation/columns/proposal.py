"""A layout proposed for an example, by the names of its columns and by their values."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from payments.domain.reconciliation.bank.statements import our_name
from payments.domain.reconciliation.columns import names, tables
from payments.domain.reconciliation.columns.amounts import DATES, ISO, Typed, is_amount, is_negative, read_time
from payments.domain.reconciliation.columns.examples import Sample
from payments.domain.reconciliation.columns.layout import (
    CREDITS,
    DEBITS,
    MOST_KINDS,
    OUTWARD,
    ColumnLayout,
    Meaning,
    Role,
    Signs,
    folded,
    is_left_out,
)
from payments.domain.reconciliation.columns.readers import named_as
from payments.domain.reconciliation.files import FileRow
from payments.money import CURRENCIES, DEFAULT_CURRENCY

WORDS, CODE = re.compile(r"[^\W_]+"), re.compile(r"\b[A-Z]{3}\b")
# No day is without them.
DIGITS = re.compile(r"^.{0,12}[0-9]{2}.{0,4}[0-9]{2}")
# So many values of a column must be what its name says, of one without a name what it is taken for, or names of ours.
MOST, NEARLY_ALL, SOME = 0.8, 0.95, 0.3
AMOUNTS = (Role.AMOUNT, Role.DEBIT, Role.CREDIT, Role.FEE, Role.NET)
DECIMALS = {".": "a point", ",": "a comma"}
EVIDENCE_ROWS, EXACT = 40, 2.5
# By the name of their column, those that are not empty.
Values = Mapping[str, Sequence[str]]


@dataclass(slots=True)
class Proposal:
    """A layout, the reasons for its settings, and what a person should look at."""

    layout: ColumnLayout
    reasons: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)


def propose(sample: Sample, is_bank: bool) -> Proposal:
    """Return a layout for an example of a provider's report, or of a bank's statement."""
    header, has_header, body, sums = _parts(sample)
    values = {name: [row.cells[place] for row in body if row.cells[place:] and row.cells[place].strip()]
              for place, name in enumerate(header.cells)}  # fmt: skip
    reasons, doubts = list[str](), list[str]()
    columns = _columns(values, reasons, doubts)
    reasons += [f"Rows that begin with “{word}”, or have a cell with it alone, are left out" for word in sums]
    numbers = [cell for role in AMOUNTS if role in columns for cell in values[columns[role]]]
    dates = _dates(values.get(columns.get(Role.DATE, ""), ()), doubts)
    decimal = _decimal(numbers, doubts)
    kinds = {word: _meaning(word) for word in _words_of(values.get(columns.get(Role.KIND, ""), ()))}
    reasons += [f"“{word}” is {meaning.label.lower()}, by the word" for word, meaning in kinds.items()]
    signs = _signs(columns, [dict(zip(header.cells, row.cells, strict=False)) for row in body], kinds, decimal)
    if signs is None:
        doubts.append("No amount is negative, so nothing says which way money went.")
        signs = Signs.WRITTEN
    currency = ""
    if not is_bank and Role.CURRENCY not in columns:
        currency = _currency(chain.from_iterable(row.cells for row in sample.rows[: tables.HEAD_ROWS]), doubts)
    layout = ColumnLayout(
        columns,
        kinds,
        dates,
        decimal,
        signs or Signs.WRITTEN,
        sample.encoding,
        has_header,
        sums,
        sample.sheet,
        currency,
    )
    try:
        layout.check(is_bank)
    except ValueError as fault:
        doubts.append(str(fault))
    return Proposal(layout, reasons, doubts)


def _parts(sample: Sample) -> tuple[FileRow, bool, list[FileRow], tuple[str, ...]]:
    """Return the header of a sample, whether it has one, the rows below it, and how those begin that are sums."""

    def known(row: FileRow) -> int:
        return sum(any(_name_score(role, cell) for role in names.HEADERS) for cell in row.cells)

    best = max(sample.rows[: tables.HEAD_ROWS], key=known, default=None)
    has_header = best is not None and known(best) > 1
    if best and has_header:
        header = FileRow([*map(named_as, best.cells)], 1, best.number)
    else:
        width = max((len(row.cells) for row in sample.rows), default=0)
        header = FileRow([str(place) for place in range(1, width + 1)], 1, 0)
    body = [row for row in sample.rows if row.number > header.number]
    undated = [row for row in body if not any(_is(Role.DATE, cell) for cell in row.cells)]
    sums = {word for row in undated for word in names.SUMS if is_left_out(row.cells, [word])}
    # A balance has a day, and its name in a cell of its own.
    sums |= {*names.SUMS} & {folded(cell) for row in body for cell in row.cells}
    return header, has_header, [row for row in body if not is_left_out(row.cells, [*sums])], tuple(sorted(sums))


def _columns(values: Values, reasons: list[str], doubts: list[str]) -> dict[Role, str]:
    """Return the column of each role that has one: the best first, and none for two roles."""
    pairs = ((role, name) for role in names.HEADERS for name in values)
    scored = [(*_score(role, name, values[name]), role, name) for role, name in pairs]
    columns, why, best = dict[Role, str](), dict[Role, str](), dict[Role, float]()
    for score, reason, role, name in sorted(scored, key=lambda each: -each[0]):
        if score and role not in columns and name not in columns.values():
            columns[role], why[role], best[role] = name, f"{role.label}: column “{name}”, {reason}", score
        elif role is Role.AMOUNT and score and score > best.get(role, 9) - 0.01 and name not in columns.values():
            doubts.append(f"The amount may as well be in the column “{name}” as in “{columns[role]}”.")
    for role in _needless(columns, values):
        del columns[role]
    reasons += [why[role] for role in Role if role in columns]
    return {role: columns[role] for role in Role if role in columns}


def _score(role: Role, name: str, values: Sequence[str]) -> tuple[float, str]:
    """Return how well a column fits a role, 0 where it does not, and why."""
    values = values[:EVIDENCE_ROWS]
    share = sum(_is(role, cell) for cell in values) / len(values) if values else 0
    count = f"{round(share * len(values))} of {len(values)} values"
    ours = sum(bool(our_name(cell)) for cell in values) if role is Role.REFERENCE else 0
    if ours > SOME * len(values):
        return 5, f"{ours} of {len(values)} values are names that kaha gave"
    if (by_name := _name_score(role, name)) and (share >= MOST or (not values and by_name > EXACT)):
        return by_name + share, f"by its name; {count} are such" if values else "by its name; it is empty here"
    if role in (Role.DATE, Role.CURRENCY) and share >= NEARLY_ALL:
        return share / 2, f"by its values: {count} are such"
    # A number without decimals may be anything.
    if role is Role.AMOUNT and share >= NEARLY_ALL and any("." in cell or "," in cell for cell in values):
        return share / 4, f"by its values: {count} are such"
    return 0, ""


def _name_score(role: Role, name: str) -> float:
    """Return how well the name of a column fits a role: 0 not at all, 3 for the first of its names."""
    words = f" {' '.join(WORDS.findall(folded(name)))} "
    found = ((place, known) for place, known in enumerate(names.HEADERS[role]) if known in words)
    return max(((3 if words == known else 2) - place / 100 - len(words) / 1_000 for place, known in found), default=0)


def _is(role: Role, cell: str) -> bool:
    """Return whether a cell may be of a column of this role."""
    if role is Role.DATE:
        return bool(DIGITS.search(cell)) and any(_is_date(cell, form) for form in DATES)
    if role is Role.CURRENCY:
        return cell.strip().upper() in CURRENCIES
    if role is Role.SIDE:
        return folded(cell).rstrip(".") in DEBITS | CREDITS
    return role not in AMOUNTS or any(is_amount(cell, decimal) for decimal in DECIMALS)


def _is_date(cell: str, form: str) -> bool:
    try:
        read_time(cell, form)
    except ValueError:
        return False
    return True


def _needless(columns: Mapping[Role, str], values: Values) -> set[Role]:
    """Return the roles that say what others say: an amount beside debits and credits, or half a pair of these."""
    pair = {Role.DEBIT, Role.CREDIT} & columns.keys()
    if len(pair) == 2 and Role.SIDE not in columns:
        rows = max(map(len, values.values()), default=0)
        # One of the two is filled in each row.
        if sum(len(values[columns[role]]) for role in pair) <= rows * 1.1 or Role.AMOUNT not in columns:
            return {Role.AMOUNT} & columns.keys()
    return pair


def _signs(
    columns: Mapping[Role, str], rows: Sequence[Mapping[str, str]], kinds: Mapping[str, Meaning], decimal: str
) -> Signs | None:
    """Return which way money went in an example; None where nothing says it."""
    if {Role.SIDE, Role.DEBIT} & columns.keys():
        return Signs.WRITTEN
    amount, kind = columns.get(Role.AMOUNT, columns.get(Role.NET, "")), columns.get(Role.KIND, "")
    below = [(kinds.get(folded(row.get(kind, ""))), is_negative(row.get(amount, ""), decimal)) for row in rows]
    if not any(is_below for _, is_below in below):
        return Signs.KIND if OUTWARD & {*kinds.values()} else None
    charges = [is_below for meaning, is_below in below if meaning is Meaning.CHARGE]
    return Signs.REVERSED if sum(charges) > len(charges) / 2 else Signs.WRITTEN


def _dates(cells: Sequence[str], doubts: list[str]) -> str:
    counts = Counter({form: sum(_is_date(cell, form) for cell in cells) for form in DATES})
    best = max(counts.values())
    forms = [form for form in DATES if counts[form] == best and best]
    if len({tuple(read_time(cell, form) for cell in cells if _is_date(cell, form)) for form in forms}) > 1:
        doubts.append(f"Days may be as {' or as '.join(DATES[form] for form in forms)}: each reads as many of them.")
    if len({isinstance(cell, Typed) for cell in cells if DIGITS.search(cell)}) > 1:
        doubts.append("Some days are text and others are dates: a spreadsheet may have taken days for months.")
    return forms[0] if forms else ISO


def _decimal(cells: Sequence[str], doubts: list[str]) -> str:
    counts = {decimal: sum(is_amount(cell, decimal) for cell in cells) for decimal in DECIMALS}
    if counts["."] == counts[","] and any("." in cell or "," in cell for cell in cells if not isinstance(cell, Typed)):
        doubts.append("Amounts read with a decimal point and with a decimal comma: look at the sums.")
    return "," if counts[","] > counts["."] else "."


def _words_of(cells: Iterable[str]) -> list[str]:
    return [word for word, _ in Counter(map(folded, cells)).most_common(MOST_KINDS)]


def _meaning(word: str) -> Meaning:
    text = f" {' '.join(WORDS.findall(word))} "
    found = (meaning for meaning, parts in names.KINDS.items() if any(part in text for part in parts))
    return next(found, Meaning.OTHER)


def _currency(cells: Iterable[str], doubts: list[str]) -> str:
    """Return the one currency that the first rows name."""
    named = Counter(code for cell in cells for code in CODE.findall(cell) if code in CURRENCIES)
    taken = named.most_common(1)[0][0] if named else DEFAULT_CURRENCY
    doubts.append(f"No column is the currency; {', '.join(sorted(named)) or 'none'} is named, {taken} is taken.")
    return taken
