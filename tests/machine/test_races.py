"""Many clients at once over HTTP, on a real server, at sizes that take seconds."""

from pathlib import Path

import pytest

from tests.figures.money.races import keys, refunds, sources

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]


def test_fifty_refunds_at_once_never_give_back_more_than_was_taken_at_any_instant(tmp_path: Path) -> None:
    figure = refunds(tmp_path, rounds=1, clients=50, seed=1)

    assert figure["samples"] > 0
    assert figure["over"] == 0
    assert figure["refunded_otherwise_than_answered"] == figure["given_back_otherwise_than_answered"] == 0
    assert figure["broken_invariants"] == []


def test_of_fifty_charges_of_one_source_at_once_one_wins(tmp_path: Path) -> None:
    figure = sources(tmp_path, rounds=2, clients=50, seed=1)

    assert (figure["done"], figure["one_winner"], figure["source_already_used"]) == (2, 2, 98)
    assert (figure["charges"], figure["payments_at_the_provider"]) == (2, 2)


def test_a_hundred_clients_with_one_key_get_the_same_bytes_of_one_call_to_the_provider(tmp_path: Path) -> None:
    figure = keys(tmp_path, rounds=3, clients=100, seed=1)

    assert (figure["done"], figure["equal_bytes"]) == (300, 3)
    assert figure["payments_and_operations_at_the_provider"] == figure["expected_at_the_provider"]
