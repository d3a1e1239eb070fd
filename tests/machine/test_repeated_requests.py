"""Clients that send everything several times, and give up on answers too early, are charged once."""

from pathlib import Path

import pytest

from tests.figures.money.repeated_requests import resending

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]


def test_requests_sent_again_and_again_are_done_once_and_answered_with_the_same_bytes(tmp_path: Path) -> None:
    figure = resending(tmp_path, orders=20, seed=1)

    assert figure["sendings"] > figure["requests"] == figure["keys"]
    assert figure["other_bytes"] == 0
    assert figure["charges"] == figure["payments_at_the_provider"] == 20
    assert figure["operations_at_the_provider"] == figure["operations"]
    assert figure["broken_invariants"] == []
