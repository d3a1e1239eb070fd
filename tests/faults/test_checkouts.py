"""Histories of checkout sessions, a few of those that `figures faults --of checkouts` draws by the thousand."""

from random import Random

import pytest

from payments.domain.merchants.merchants import NewMerchant
from tests.faults.checkouts import run_checkout
from tests.faults.tallies import broken_invariants
from tests.faults.world import World

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

SEED = 20261126
HISTORIES = 8


def test_whatever_dies_a_session_is_paid_once_or_not_at_all(fire: World, shop: NewMerchant) -> None:
    lives = [run_checkout(fire, shop, Random(f"{SEED} {number}")) for number in range(HISTORIES)]
    assert ([life.findings for life in lives if life.findings], broken_invariants()) == ([], [])
