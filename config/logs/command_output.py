"""Standard output of `manage.py`: an exit status is that of the act, whether its output can be written or not."""

import io
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

# They change something, except by the verbs in READING.
CHANGING = frozenset(
    (
        *("advance_clock", "changepassword", "check_provider", "createsuperuser", "import_bins", "merchant"),
        *("migrate", "quickstart", "reconcile", "recover_after_restore"),
        *("rotate_vault_keys", "run_sweep", "seed_demo", "sum_up", "webhooks"),
    )
)
READING = frozenset(("list", "list-keys", "show"))
SHOWING_SECRETS = frozenset(("create", "create-key", "roll-key", "roll-secret"))
UNSHOWN = 4
DONE = "What the command did is done: look before you repeat it."
LOST_ONCE_SHOWN = (
    "What it was to show only once is lost: find the keys with `merchant list-keys` and replace them with "
    "`merchant roll-key`, and webhook secrets with `merchant roll-secret`."
)


class _Kept(io.FileIO):
    """A descriptor that takes everything; `fault` is why something was not written."""

    fault: OSError | None = None

    def write(self, data: Any) -> int:
        try:
            return super().write(data) or 0
        except OSError as fault:
            self.fault = fault
            return len(data)


@contextmanager
def status_of_act(arguments: Sequence[str]) -> Iterator[None]:
    """Run the command with these arguments; raise SystemExit with its status.

    Letters that the output cannot show are escaped. Output that cannot be written is dropped, and a line on standard
    error says so; a command that only reads then ends with UNSHOWN, unless the program that reads along has ended.
    """
    raw = _replace_standard_output()
    ended = SystemExit(0)
    try:
        yield
    except SystemExit as end:
        ended = end
    sys.stdout.flush()
    if raw.fault:
        changed = not CHANGING.isdisjoint(arguments[:1]) and READING.isdisjoint(arguments[1:2])
        print(_words(raw.fault, arguments if changed else ()), file=sys.stderr)
        if not (changed or ended.code or isinstance(raw.fault, BrokenPipeError)):
            ended = SystemExit(UNSHOWN)
    raise ended


def _replace_standard_output() -> _Kept:
    old: Any = sys.stdout
    # Where it was closed, a connection would get its number; what is opened for reading takes no output either.
    raw = _Kept(os.open(os.devnull, os.O_RDONLY) if old is None else old.fileno(), "w", closefd=False)
    stream: Any = io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=getattr(old, "encoding", "utf-8"),
        errors="backslashreplace",
        line_buffering=getattr(old, "line_buffering", False),
        write_through=getattr(old, "write_through", False),
    )
    sys.stdout = sys.__stdout__ = stream  # type: ignore[misc] # so that libraries find it too
    return raw


def _words(fault: OSError, changed_by: Sequence[str]) -> str:
    words = [f"kaha: the output could not be written ({fault.strerror})."]
    if changed_by:
        words.append(DONE)
    if changed_by[:1] == ["merchant"] and not SHOWING_SECRETS.isdisjoint(changed_by[1:2]):
        words.append(LOST_ONCE_SHOWN)
    return " ".join(words)
