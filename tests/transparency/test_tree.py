"""The stored tree is that of RFC 6962, and the auditor's program agrees with every proof of it."""

import hashlib

import pytest

from payments.ledger.transparency import tree
from tests.transparency.log import verify

pytestmark = pytest.mark.django_db

LEAVES = [tree.leaf_hash(bytes([number])) for number in range(33)]


def plain_root(leaves: list[bytes]) -> bytes:
    """Return the root as RFC 6962, 2.1, defines it."""
    if len(leaves) < 2:
        return leaves[0] if leaves else hashlib.sha256().digest()
    middle = 1
    while middle * 2 < len(leaves):
        middle *= 2
    return tree.node_hash(plain_root(leaves[:middle]), plain_root(leaves[middle:]))


@pytest.fixture
def grown() -> None:
    """Grow the tree to all LEAVES, by batches of many lengths."""
    size = 0
    for length in (1, 2, 5, 1, 8, 16):
        tree.grow(size, LEAVES[size : size + length])
        size += length
    assert size == len(LEAVES)


def test_each_root_is_that_of_the_rfc(grown: None) -> None:
    assert [tree.root_of(size) for size in range(34)] == [plain_root(LEAVES[:size]) for size in range(34)]


def test_each_leaf_leads_to_each_root(grown: None) -> None:
    for size in range(1, 34):
        root = plain_root(LEAVES[:size])
        for number in range(size):
            path = tree.inclusion_proof(number, size)
            assert verify.root_by_inclusion(number, size, LEAVES[number], path) == root


@pytest.mark.long
def test_each_root_is_the_beginning_of_each_later_one(grown: None) -> None:
    moment = verify.moment_of("2026-11-28T00:00:00.000000Z")
    heads = [verify.Head("a", size, plain_root(LEAVES[:size]), moment) for size in range(34)]
    for old in heads[1:]:
        for new in heads[old.size :]:
            verify.check_consistency(old, new, tree.consistency_proof(old.size, new.size))
            if old.size < new.size:
                with pytest.raises(verify.Fault):
                    verify.check_consistency(old, new, [*tree.consistency_proof(old.size, new.size), LEAVES[0]])
