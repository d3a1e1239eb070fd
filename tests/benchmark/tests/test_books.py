"""Holding the books against what was answered."""

import pytest

from tests.benchmark.books import check
from tests.client import Api

# The invariants look at one moment, which begins with a transaction of its own.
pytestmark = pytest.mark.django_db(transaction=True)


def test_what_was_answered_and_is_there_is_in_order(api: Api) -> None:
    books = check({"charges": [api.charge()["id"]], "sources": [api.source()]}, [])
    assert (books.in_order, books.answered) == (True, 2)


def test_a_charge_that_is_not_there_is_missing(api: Api) -> None:
    unknown = f"ch_{'0' * 32}"
    assert check({"charges": [api.charge()["id"], unknown]}, []).missing == [unknown]


def test_a_charge_that_is_not_in_the_state_that_was_answered_is_missing(api: Api) -> None:
    held = api.held()["id"]
    assert check({"charges": [held]}, []).missing == [held]


def test_a_charge_that_nobody_was_answered_is_one_too_many(api: Api) -> None:
    prepared, answered = api.charge()["id"], api.charge()["id"]
    assert check({"charges": [answered]}, [prepared]).in_order
    assert not check({"charges": [answered]}, []).in_order
