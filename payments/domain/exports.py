"""Exports: lists as files, which operators request and workers write in parts, each in its own transaction.

The parts of a process that dies stay, and the next sweep continues after them.
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
# The limit leaves the worker time for other tasks.
PARTS_IN_A_SWEEP = 50
MOST_WAITING = 3

State = Export.State


class TooMany(Exception):
    """An error: the operator has the maximum number of waiting exports."""


class NotAllowed(Exception):
    """An error: the operator may not see the list."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows of a list, and the last ID of them; None at the end of the list."""

    rows: Sequence[Any]
    last_id: UUID | None


class Sheet(Protocol):
    """A kind of list. The admin page that shows it registers it in SHEETS."""

    heads: Sequence[str]

    def expected_rows(self, operator: User, query: str) -> int:
        """Return about how many rows there are. Raise NotAllowed."""

    def batch(self, export: Export, length: int) -> Batch:
        """Return the next rows of `export`, at most `length`. Raise NotAllowed."""

    def cells(self, row: Any) -> Sequence[object]:
        """Return the cells of one row."""


SHEETS: dict[str, Sheet] = {}


@transaction.atomic
def request_export(sheet: str, query: str, operator: User) -> Export:
    """Create an export of the list filtered by `query`. Raise TooMany, NotAllowed."""
    # The lock makes two requests of one operator count one after the other.
    User.objects.select_for_update(no_key=True).get(pk=operator.pk)
    if Export.objects.filter(operator=operator, state=State.WAITING).count() >= MOST_WAITING:
        raise TooMany
    expected = SHEETS[sheet].expected_rows(operator, query)
    return Export.objects.create(sheet=sheet, query=query, operator=operator, expected_rows=expected)


def write_due() -> int:
    """Write parts of all waiting exports in turn, at most PARTS_IN_A_SWEEP; return how many."""
    written = 0
    while written < PARTS_IN_A_SWEEP and write_part():
        written += 1
    return written


@transaction.atomic
def write_part() -> bool:
    """Write the next part of the export that has waited longest and is not locked. Return False when there is none."""
    waiting = Export.objects.filter(state=State.WAITING).order_by("updated_at")
    export = waiting.select_for_update(skip_locked=True, of=("self",)).select_related("operator").first()
    if export is None:
        return False
    try:
        batch = SHEETS[export.sheet].batch(export, BATCH)
    except NotAllowed:
        export.state = State.REFUSED
    else:
        sheet = SHEETS[export.sheet]
        rows = map(sheet.cells, batch.rows)
        lines = map(csv_line, rows) if export.parts else csv_lines(sheet.heads, rows)
        content = b"".join(lines)
        ExportPart.objects.create(export=export, number=export.parts, content=content)
        export.parts, export.rows = export.parts + 1, export.rows + len(batch.rows)
        export.size, export.last_id = export.size + len(content), batch.last_id
        export.state = State.WAITING if batch.last_id else State.DONE
    export.updated_at = clock.now()
    export.save()
    return True


def delete_expired() -> int:
    """Delete expired files; return how many rows were deleted."""
    return Export.objects.filter(expires_at__lte=clock.now()).delete()[0]


def forget(operator: User) -> None:
    """Delete the files of an operator who may no longer see their content."""
    Export.objects.filter(operator=operator).delete()


def content_of(export: Export) -> Iterator[bytes]:
    """Yield the file part by part, with one part in memory."""
    for number in range(export.parts):
        part = bytes(ExportPart.objects.values_list("content", flat=True).get(export=export, number=number))
        # The reader may be slow, and must not hold a connection.
        release_connection()
        yield part
