"""The log in tests: behind no horizon, signed by a key of its own, and read by the auditor's program."""

import base64
import importlib
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from payments.db.scoped_queryset import LAST_ID
from payments.domain.transparency import export
from payments.ledger.transparency import append, heads
from payments.models import LogHead, LogProgress

PROGRAM = Path(__file__).parents[2] / "payments" / "verify" / "kaha_verify"
KEY = base64.b64encode(bytes(range(0, 224, 7))).decode()


def _program(name: str) -> Any:
    """Return a module of the auditor's program, which no package of kaha has on its path."""
    sys.path.append(str(PROGRAM.parent))
    try:
        return importlib.import_module(f"kaha_verify.{name}")
    finally:
        sys.path.remove(str(PROGRAM.parent))


verify, books, main = _program("heads"), _program("books"), _program("main").main


@pytest.fixture
def open_horizon(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """Let the worker see what this test has just written, and give it a key."""
    see_all(monkeypatch)
    settings.TRANSPARENCY_KEYS = f"t1:{KEY}"


def see_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(append, "commit_horizon", lambda: datetime.now(UTC) + timedelta(minutes=1))


def signed() -> LogHead:
    """Append what is there, and return a new head."""
    append.append()
    head = heads.sign(heads.newest_head())
    assert head
    return head


def sign_all() -> LogHead:
    """Return a new head of all that is there, however new; what is made later is not read any more."""
    LogProgress.objects.update_or_create(pk=1, defaults={"posting_id": LAST_ID})
    append.append_missed()
    head = heads.sign(heads.newest_head())
    assert head
    return head


def keys() -> list[Any]:
    return [verify.read_key(text) for text in heads.public_keys()]


def faults(*signed_heads: LogHead) -> list[str]:
    """Return what the auditor finds in an export of now."""
    found: list[str] = books.check_books(exported(), [head.note for head in signed_heads], keys()).faults
    return found


def exported() -> list[str]:
    return list(export.lines())
