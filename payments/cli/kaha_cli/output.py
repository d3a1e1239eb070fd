"""Standard output and standard error, whatever they are: a code page without ₱, a closed pipe, a full disk.

An exit code is that of the request. So a command that has changed something ends with 0 even where its answer cannot
be shown, and a command that only reads ends with 4.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import click
import httpx2

from kaha_cli.failures import Unshown, printable


def prepare_streams() -> None:
    """Let files and pipes be UTF-8, and a terminal show `?` for what it has no letter for."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            # It was closed. Otherwise the connection to kaha would get its number.
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 # until the end
        elif mode == "w":
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="replace")


def echo(text: str) -> None:
    """Print a line at once, for a program that reads along. Raises Unshown."""
    try:
        click.echo(text)
        sys.stdout.flush()
    except OSError as error:
        raise unshown(error) from None


def unshown(error: OSError) -> Unshown:
    """Return what to raise where the output takes no more, after which nothing is written to it."""
    _drop_rest(sys.stdout)
    failure = Unshown(f"The output could not be written ({error.strerror}).")
    failure.is_unread = isinstance(error, BrokenPipeError)
    return failure


def note(text: str) -> None:
    """Print a line for people, on standard error, if that is possible."""
    try:
        click.echo(text, err=True)
    except OSError:
        _drop_rest(sys.stderr)


def _drop_rest(stream: IO[str]) -> None:
    # Python writes what is left in the buffer as it ends, and ends with 120 where that fails again.
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def show(response: httpx2.Response, as_json: bool, lines: Callable[[Any], Iterable[str]]) -> None:
    """Print the answer as it came, or its `lines`. Raises Unshown."""
    try:
        texts = [response.text] if as_json else list(lines(response.json()))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        reason = f"The answer has another form than this version of kaha expects ({type(error).__name__}: {error})."
        raise Unshown(printable(f"{reason} Add --json, or install the version that the service offers.")) from None
    for text in texts:
        echo(text)


def show_failure(failure: click.ClickException) -> int:
    """Print why a command ends early, if that is possible; return its exit code."""
    if isinstance(failure, Unshown) and failure.is_unread:
        return 0
    try:
        failure.show()
    except OSError:
        _drop_rest(sys.stderr)
    return failure.exit_code


@contextmanager
def when_done() -> Iterator[None]:
    """Let a command that has changed something end with status 0 where that cannot be shown."""
    try:
        yield
    except Unshown as failure:
        note(f"It is done, and must not be done again. {failure.message}")
    except KeyboardInterrupt:
        note("It is done, and must not be done again.")
