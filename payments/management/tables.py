"""Tables of text for terminals."""

from collections.abc import Sequence
from datetime import UTC, datetime

NOTHING = "-"
LINE_WIDTH = 60


def in_columns(rows: Sequence[Sequence[object]]) -> list[str]:
    """Return one line for each of `rows`, with aligned columns."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in texts]


def utc(moment: datetime | None) -> str:
    """Return `moment` to the second, in UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if moment else NOTHING


def one_line(text: str) -> str:
    """Return `text` as one line, cut to the width of a column."""
    line = " ".join(text.split())
    return line if len(line) <= LINE_WIDTH else f"{line[: LINE_WIDTH - 1]}…"
