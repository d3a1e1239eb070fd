"""How far a command is that writes a long file, for who waits at a terminal."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from django.core.management.base import OutputWrapper

EVERY = 1_000
Item = TypeVar("Item")


def counted(lines: Iterable[Item], stderr: OutputWrapper) -> Iterator[Item]:
    """Yield `lines`, and say on a terminal how many there were so far: at the end, and after each EVERY."""
    count = 0
    for count, line in enumerate(lines, start=1):  # its last value is the number of all
        yield line
        if count % EVERY == 0:
            _say(f"\r{count:,} lines", stderr)
    _say(f"\r{count:,} lines\n", stderr)


def _say(text: str, stderr: OutputWrapper) -> None:
    if stderr.isatty():
        stderr.write(text, ending="")
        stderr.flush()
