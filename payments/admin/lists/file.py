"""A list as a CSV file, streamed in short reads, so that a slow reader holds no connection and no thread for long."""

import html
import re
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, tzinfo
from threading import Lock
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.contrib.admin.utils import label_for_field, lookup_field
from django.core.exceptions import PermissionDenied
from django.http import QueryDict, StreamingHttpResponse
from django.utils import timezone, translation
from django.utils.translation import gettext_lazy as _

from payments import clock, context
from payments.concurrency.connections import release_connection
from payments.concurrency.fair_queue import PAUSE
from payments.concurrency.garbage import collect_after_piece
from payments.concurrency.host_turns import host_turn
from payments.rendering.csv import csv_line, csv_lines

Cells = Mapping[str, Callable[[Any], object]]
ROWS_AT_ONCE = 250
MOST_ROWS = 1_000_000
# A reader that is slower than this gets a part of the list.
MOST_SECONDS = 15 * 60
TEXT_MAX_LENGTH = 1000
TAG = re.compile(r"<[^>]+>")
# An amount and a mode of creation come first, and what a page shows for an empty value is an empty cell.
EMPTY = ("", "–", "-")
OTHER_DOWNLOADS = _("Wait until other downloads are done, then try again.")
# In one process, one piece is made at the same moment, and in a turn of the host, which both last for a pause after it:
# however many download, they take the fourth part of an interpreter.
_MAKING = Lock()
# Each piece waits until its reader has taken it.
PIECE_BYTES = 32 * 1024


class Lines:
    """The lines of a file. `close` ends it wherever it is and gives its place back, also where nobody reads it."""

    def __init__(self, lines: Iterable[bytes], give_back: Callable[[], None]) -> None:
        self._lines = lines
        self.close = weakref.finalize(self, give_back)

    def __iter__(self) -> Iterator[bytes]:
        """Yield the lines in pieces of about PIECE_BYTES."""
        # A generator keeps the file, and with it its place, until it is read or dropped.
        lines = iter(self._lines)
        while (piece := self._piece(lines)) is not None:
            if piece:
                yield piece

    @staticmethod
    def _piece(lines: Iterator[bytes]) -> bytes | None:
        """Return the next lines, none where a part of a long list has no rows that match; None at the end."""
        piece, line = bytearray(), None
        # Pages of other operators do not wait for this one's turn.
        context.begin_wait()
        with _MAKING, host_turn():
            started = time.thread_time()
            while len(piece) < PIECE_BYTES and (line := next(lines, None)):
                piece += line
            collect_after_piece()
            time.sleep(PAUSE * (time.thread_time() - started))
        return bytes(piece) if piece or line is not None else None


def list_lines(
    batches: Iterable[list[Any]], cells: Cells, zone: tzinfo, may_continue: Callable[[], bool], most: int | None = None
) -> Iterator[bytes]:
    """Yield the lines of at most `most` rows of `batches` with times in `zone`, until `may_continue` says no."""
    ends_at, count = time.monotonic() + MOST_SECONDS, 0
    yield b"".join(csv_lines(tuple(cells), ()))
    for rows in batches:
        if why := _why_cut(count < (most or MOST_ROWS), ends_at, may_continue):
            yield csv_line([f"Cut after {count} rows: {why}"])
            return
        # A file is in English in any case.
        with timezone.override(zone), translation.override(settings.LANGUAGE_CODE):
            lines = b"".join(csv_line([cell(row) for cell in cells.values()]) for row in rows)
        count += len(rows)
        # Kept until the reader has taken their lines, they would be old for the collector.
        rows.clear()
        release_connection()
        yield lines


def _why_cut(is_short: bool, ends_at: float, may_continue: Callable[[], bool]) -> str | None:
    if time.monotonic() > ends_at:
        return "this download took too long. Narrow the list."
    if not is_short:
        return "narrow the list by its filters."
    return None if may_continue() else "you may not see the rest of this list any more."


def download(lines: Lines, name: str) -> StreamingHttpResponse:
    """Return the response that streams `lines` as a CSV file."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8", headers=headers)


def check_export(query: QueryDict) -> None:
    """Raise PermissionDenied for an address that no list has."""
    texts = [text for _, values in query.lists() for text in values]
    if any(len(text) > TEXT_MAX_LENGTH for text in texts):
        raise PermissionDenied


def cells_of(page: Any) -> Cells:
    """Return the cells of a line for all columns of a list, by their heads."""
    cells: dict[str, Callable[[Any], object]] = {}
    for name in map(str, page.file_columns or page.list_display):
        declared = getattr(getattr(page, name, None), "cells", None)
        cells.update(declared or {_head(name, page): lambda row, name=name: _cell(name, row, page)})
    return cells if "id" in cells else {"id": lambda row: str(row.pk), **cells}


def _head(name: str, page: admin.ModelAdmin) -> str:
    with translation.override(settings.LANGUAGE_CODE):
        title = str(label_for_field(name, page.model, page))
    return re.sub(r"\W+", "_", title.lower()).strip("_")


def _cell(name: str, row: Any, page: admin.ModelAdmin) -> object:
    """Return what a column shows of a row, as text without tags."""
    value = lookup_field(name, row, page)[2]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return clock.iso(value)
    if value is None or isinstance(value, int):
        return value
    text = " ".join(html.unescape(TAG.sub(" ", str(value))).split())
    return None if text in EMPTY else text
