"""CSV files by which operators import the BIN table."""

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction

from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.cards.bin_table import FACTS, PREFIX_LENGTHS
from payments.models import BinRange
from payments.models.charging.source import BRANDS, FUNDINGS, UNKNOWN

COLUMNS = ("prefix", *FACTS)
BATCH_ROWS = 1000
# What a cell must be, as a pattern and in words.
RULES = {
    "prefix": (re.compile(f"[0-9]{{{PREFIX_LENGTHS[0]},{PREFIX_LENGTHS[-1]}}}"), "4 to 11 digits"),
    "brand": (re.compile("|".join(BRANDS)), f"one of {', '.join(BRANDS)}"),
    "funding": (re.compile("|".join(FUNDINGS)), f"one of {', '.join(FUNDINGS)}"),
    "country": (re.compile(f"[A-Z]{{2}}|{UNKNOWN}"), f"two capital letters (ISO 3166) or {UNKNOWN}"),
    "issuing_bank": (re.compile(".{1,100}"), "1 to 100 characters"),
}


class BadLine(Exception):
    """A fault in a file, with its line."""


@dataclass(frozen=True)
class Counts:
    """How many entries an import added, changed and left unchanged."""

    added: int
    changed: int
    unchanged: int


def read(lines: Iterable[str]) -> list[BinRange]:
    """Return the unsaved entries of a CSV file with the header `COLUMNS`. Raise BadLine."""
    rows = csv.reader(lines, strict=True)
    try:
        if tuple(next(rows, ())) != COLUMNS:
            raise BadLine(f"line 1: the header must be {','.join(COLUMNS)}")
        entries: dict[str, BinRange] = {}
        for values in filter(None, rows):
            entry = _entry(values, rows.line_num)
            if entry.prefix in entries:
                raise BadLine(f"line {rows.line_num}: {entry.prefix} is there twice")
            entries[entry.prefix] = entry
    except csv.Error as fault:
        raise BadLine(f"line {rows.line_num}: {fault}") from None
    return list(entries.values())


@transaction.atomic
def store(entries: list[BinRange]) -> Counts:
    """Insert the new ones of `entries` and update those that differ; return how many of each."""
    known = {entry.prefix: _values(entry) for entry in BinRange.objects.all()}
    differing = [entry for entry in entries if known.get(entry.prefix) != _values(entry)]
    BinRange.objects.bulk_create(
        differing, batch_size=BATCH_ROWS, update_conflicts=True, unique_fields=[COLUMNS[0]], update_fields=COLUMNS[1:]
    )
    changed = sum(entry.prefix in known for entry in differing)
    audit_log.record(Action.CHANGED, detail=f"BIN ranges: {len(differing) - changed} added, {changed} changed")
    return Counts(len(differing) - changed, changed, len(entries) - len(differing))


def _entry(values: list[str], line: int) -> BinRange:
    if len(values) != len(COLUMNS):
        raise BadLine(f"line {line}: {len(COLUMNS)} columns are needed, here are {len(values)}")
    given = dict(zip(COLUMNS, values, strict=True))
    for column, value in given.items():
        pattern, form = RULES[column]
        if not pattern.fullmatch(value):
            raise BadLine(f"line {line}: {column} must be {form}")
    return BinRange(**given)


def _values(entry: BinRange) -> tuple[str, ...]:
    return tuple(getattr(entry, column) for column in COLUMNS)
