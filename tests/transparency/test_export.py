"""An export that says two things, or more than it says at its end, is no proof of either."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction

from payments.clock import iso
from payments.domain.transparency import export
from tests.client import Api
from tests.transparency.log import books, exported, keys, open_horizon, signed, verify

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("open_horizon")]
__all__ = ["open_horizon"]
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
