"""Lists as files: asked for by operators, written in parts, each in a transaction of its own, by whoever comes next.

A process that dies leaves the parts that it wrote, and the next sweep goes on after them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from payments import clock
from payments.connections import release_connection
from payments.models import Export, ExportPart
from payments.rendering.csv import csv_line, csv_lines

BATCH = 2_000
# So that others' tasks have their turn.
PARTS_IN_A_SWEEP = 50
MOST_WAITING = 3

State = Export.State


class TooMany(Exception):
    """The operator has as many exports under way as one may have."""


class NotAllowed(Exception):
    """The operator may not see the list."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows of a list, and the ID after which it goes on; None at its end."""

    rows: Sequence[Any]
    last_id: UUID | None


class Sheet(Protocol):
    """A kind of list. What is shown of one is known to the room that shows it, which puts it into SHEETS."""

    heads: Sequence[str]

    def expected_rows(self, operator: User, query: str) -> int:
        """About how many rows there are. Raises NotAllowed."""

    def batch(self, export: Export, length: int) -> Batch:
        """The next rows of `export`, at most `length`. Raises NotAllowed."""

    def cells(self, row: Any) -> Sequence[object]:
        """The line of one row."""


SHEETS: dict[str, Sheet] = {}


@transaction.atomic
def ask_for(sheet: str, query: str, operator: User) -> Export:
    """Has the list that `query` narrows written to a file. Raises TooMany, NotAllowed."""
    # Whoever asks twice at once is counted once after the other.
    User.objects.select_for_update(no_key=True).get(pk=operator.pk)
    if Export.objects.filter(operator=operator, state=State.WAITING).count() >= MOST_WAITING:
        raise TooMany
    expected = SHEETS[sheet].expected_rows(operator, query)
    return Export.objects.create(sheet=sheet, query=query, operator=operator, expected_rows=expected)


def write_due() -> int:
    """Writes parts of all exports that wait, in turn, at most PARTS_IN_A_SWEEP; returns how many."""
    written = 0
    while written < PARTS_IN_A_SWEEP and write_part():
        written += 1
    return written


@transaction.atomic
def write_part() -> bool:
    """Writes the next part of the export that waited longest and that nobody else writes; whether there was one."""
    waiting = Export.objects.filter(state=State.WAITING).order_by("updated_at")
    export = waiting.select_for_update(skip_locked=True, of=("self",)).select_related("operator").first()
    if export is None:
        return False
    try:
        batch = SHEETS[export.sheet].batch(export, BATCH)
    except NotAllowed:
        export.state = State.REFUSED
    else:
        _add(export, batch)
    export.updated_at = clock.now()
    export.save()
    return True


def delete_expired() -> int:
    """Deletes files that were kept for long enough; returns how many rows that were."""
    return Export.objects.filter(expires_at__lte=clock.now()).delete()[0]


def forget(operator: User) -> None:
    """Deletes the files of somebody who may no longer see what stands in them."""
    Export.objects.filter(operator=operator).delete()


def content_of(export: Export) -> Iterator[bytes]:
    """The file, part by part, with one of them in memory."""
    for number in range(export.parts):
        part = bytes(ExportPart.objects.values_list("content", flat=True).get(export=export, number=number))
        # Whoever reads it may be slow.
        release_connection()
        yield part


def _add(export: Export, batch: Batch) -> None:
    content = b"".join(_lines(export, batch))
    ExportPart.objects.create(export=export, number=export.parts, content=content)
    export.parts, export.rows, export.size = (
        export.parts + 1,
        export.rows + len(batch.rows),
        export.size + len(content),
    )
    export.last_id = batch.last_id
    if batch.last_id is None:
        export.state = State.DONE


def _lines(export: Export, batch: Batch) -> Iterator[bytes]:
    sheet = SHEETS[export.sheet]
    lines = map(sheet.cells, batch.rows)
    return csv_lines(sheet.heads, lines) if export.parts == 0 else map(csv_line, lines)
