"""Whatever is in a file or an export, the auditor's program ends with a sentence and a status; no odd one is proof."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from payments.clock import iso
from payments.domain.transparency import export
from payments.ledger.transparency import heads
from tests.client import Api, made
from tests.transparency.log import books, exported, keys, main, open_horizon, signed, verify

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("open_horizon")]
__all__ = ["open_horizon"]

TEXTS = st.text(st.characters(exclude_categories=()), max_size=20)
ENDS = st.sampled_from([10**4_000, 10**30, -1, 1.0, "", "-", "0" * 64, "9999-12-31T23:59:59.999999Z"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | ENDS,
    lambda some: st.lists(some, max_size=3) | st.dictionaries(TEXTS, some, max_size=3),
    max_leaves=6,
)
NO_JSON = st.binary(max_size=40) | st.sampled_from([b"[" * 100_000, b'{"leaf":' + b"9" * 5_000 + b"}", b"\xff\xfe"])
COMMANDS = {
    "export": ["books", "export", "--head", "old", "new"],
    "proof": ["proof", "proof"],
    "consistency": ["heads", "old", "new", "--consistency", "consistency"],
}
# What Python says of a value of another type, or of a member that is missing.
PYTHON = re.compile(r"\w+Error|object|'(?:int|str|list|dict|bool|float|NoneType)'|read: '?\w*'?$")
Run = Callable[[str, bytes], tuple[int, str]]


@pytest.fixture
def texts(api: Api, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return the files of a log of some journals by name."""
    monkeypatch.setattr(export, "read_only_snapshot", transaction.atomic)
    api.charge()
    old = signed()
    api.held()
    new = signed()
    row = made(api.get("/balance_transactions/"))["data"][0]
    return {
        "export": "".join(exported()),
        "proof": json.dumps(made(api.get(f"/proofs/{row['id']}"))),
        "consistency": Client().get(f"/transparency/consistency/{old.size}/{new.size}").content.decode(),
        **{"old": old.note, "new": new.note},
    }


@pytest.fixture
def run(texts: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Run:
    """Return a function that runs a file's command with this content in it."""
    monkeypatch.chdir(tmp_path)
    for name, text in texts.items():
        Path(name).write_text(text)

    def run(name: str, content: bytes) -> tuple[int, str]:
        Path(name).write_bytes(content)
        monkeypatch.setattr("sys.argv", ["kaha-verify", *COMMANDS[name], "--key", *heads.public_keys()])
        return main(), "".join(capsys.readouterr())

    return run


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield where each member of a value is: what holds it, and its name or number there."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from places(value[key])


def with_one_changed(text: str, draw: st.DrawFn) -> bytes:
    """Return lines of JSON with any value in place of one member, or of one line."""
    rows = [json.loads(line) for line in text.splitlines()]
    holder, key = draw(st.sampled_from([*places(rows)]))
    holder[key] = draw(VALUES)
    return "\n".join(map(json.dumps, rows)).encode()


@pytest.mark.long
@pytest.mark.parametrize("name", COMMANDS)
def test_any_value_in_place_of_any_member_ends_in_a_sentence(name: str, texts: dict[str, str], run: Run) -> None:
    assert run(name, texts[name].encode())[0] == 0

    @given(st.data())
    def check(data: st.DataObject) -> None:
        content = data.draw(NO_JSON) if data.draw(st.integers(0, 9)) == 0 else with_one_changed(texts[name], data.draw)
        status, said = run(name, content)
        assert status in (0, 1, 2)
        assert not PYTHON.search(said), said

    check()


@pytest.mark.parametrize("odd", [True, 1.0])
def test_a_number_is_no_other_type_that_equals_it(odd: Any, texts: dict[str, str], run: Run) -> None:
    rows = texts["export"].splitlines()
    proof = json.loads(texts["proof"])
    status, said = run("proof", json.dumps(proof | {"leaf": type(odd)(proof["leaf"])}).encode())
    assert (status, said) == (2, "A file cannot be read: something is missing, or of another type than it should be\n")
    end = json.dumps({"end": float(json.loads(rows[-1])["end"])})
    assert run("export", "\n".join([*rows[:-1], end]).encode())[0] == 1


Rows = list[str]


def balance(rows: Rows, more: int) -> str:
    """Return the last balance of an export with another amount."""
    *of, amount = json.loads(rows[-2])["balance"]
    return json.dumps({"balance": [*of, amount + more]})


def made_later(rows: Rows) -> Rows:
    later = iso(datetime.now(UTC) + timedelta(minutes=6))
    return [json.dumps(json.loads(rows[0]) | {"made_at": later}), *rows[1:]]


CHANGES: dict[str, tuple[Callable[[Rows], Rows], str]] = {
    "a row after the end": (lambda rows: [*rows, balance(rows, 0)], "after the end"),
    "a second end": (lambda rows: [*rows, rows[-1]], "after the end"),
    "two balances, the true one last": (lambda rows: [*rows[:-2], balance(rows, 1), *rows[-2:]], "contradict"),
    "a moment to come": (made_later, "which is to come"),
    "a row of no kind": (lambda rows: [*rows[:-1], "{}", rows[-1]], "damaged"),
    "a key twice": (lambda rows: [rows[0], rows[1].replace("{", '{"leaf":7,', 1), *rows[2:]], "a key twice"),
}


@pytest.fixture
def log(api: Api, monkeypatch: pytest.MonkeyPatch) -> tuple[Rows, str]:
    """Return an export of three journals, and a head that has them."""
    monkeypatch.setattr(export, "read_only_snapshot", transaction.atomic)
    for _ in range(3):
        api.held()
    head = signed()
    return exported(), head.note


def test_an_export_that_contradicts_itself_is_found(log: tuple[Rows, str]) -> None:
    rows, head = log
    assert books.check_books(rows, [head], keys()).faults == []
    for name, (change, words) in CHANGES.items():
        try:
            found = books.check_books(change(rows), [head], keys()).faults
        except verify.Fault as fault:
            found = [str(fault)]
        assert [fault for fault in found if words in fault], name


def test_a_lost_leaf_is_one_gap(log: tuple[Rows, str]) -> None:
    """Those after it stand where they should."""
    rows, head = log
    found = books.check_books([rows[0], *rows[2:]], [head], keys()).faults
    assert ["leaf 0 should" in fault for fault in found if "stands where" in fault] == [True]


def test_faults_without_end_are_counted_and_the_first_kept(log: tuple[Rows, str]) -> None:
    rows, head = log
    checked = books.check_books([*rows, *[balance(rows, 0)] * 1_100], [head], keys())
    assert (checked.found, len(checked.faults)) == (1_100, 1_000)
