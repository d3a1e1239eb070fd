"""The Merkle tree of RFC 6962 over stored hashes of whole subtrees: it grows at its end, and reads little for a proof.

A node is named by its level and its place in it: it covers the leaves from `place << level` to the next one's first.
"""

import hashlib
from collections.abc import Iterator, Sequence

from django.db import connection

from payments.models import LogNode

PLACE_BITS = 56
# The IDs of leaves are their numbers, below this.
LEVEL_0_END = 1 << PLACE_BITS
# The leaves from the first to before the second.
Range = tuple[int, int]
INSERT = "INSERT INTO payments_lognode (id, hash) SELECT * FROM unnest(%s::bigint[], %s::bytea[])"
EMPTY_ROOT = hashlib.sha256().digest()


def leaf_hash(content: bytes) -> bytes:
    """Return the hash of a leaf."""
    return hashlib.sha256(b"\x00" + content).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of a node above two others."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def grow(size: int, leaves: Sequence[bytes]) -> None:
    """Store the nodes that `leaves` complete in a tree that had `size` of them."""
    edge = list(_subtrees(0, size))
    known = _stored(edge)
    stack, nodes = [(level, known[level, place]) for level, place in edge], dict[int, bytes]()
    for number, leaf in enumerate(leaves, size):
        level, above = 0, leaf
        nodes[_id(0, number)] = above
        while stack and stack[-1][0] == level:
            above, level = node_hash(stack.pop()[1], above), level + 1
            nodes[_id(level, number >> level)] = above
        stack.append((level, above))
    with connection.cursor() as cursor:
        cursor.execute(INSERT, [list(nodes), list(nodes.values())])


def root_of(size: int) -> bytes:
    """Return the root of the tree of the first `size` leaves."""
    return _hashes([(0, size)])[0] if size else EMPTY_ROOT


def inclusion_proof(number: int, size: int) -> list[bytes]:
    """Return the hashes that lead from leaf `number` to the root of the first `size` (RFC 6962, 2.1.1)."""
    ranges, start, end = list[Range](), 0, size
    while end - start > 1:
        middle = start + _half(end - start)
        if number < middle:
            ranges.append((middle, end))
            end = middle
        else:
            ranges.append((start, middle))
            start = middle
    return _hashes(ranges[::-1])


def consistency_proof(first: int, second: int) -> list[bytes]:
    """Return the hashes that show that the first `first` leaves begin the first `second` (RFC 6962, 2.1.2)."""
    ranges, start, end = list[Range](), 0, second
    while first != end:
        middle = start + _half(end - start)
        if first <= middle:
            ranges.append((middle, end))
            end = middle
        else:
            ranges.append((start, middle))
            start = middle
    # The verifier knows the root of the first leaves, where they are a whole subtree.
    return _hashes([*([(start, end)] if start else []), *ranges[::-1]])


def _half(size: int) -> int:
    """Return the largest power of two below `size`."""
    return 1 << (size - 1).bit_length() - 1


def _hashes(ranges: Sequence[Range]) -> list[bytes]:
    """Return the root over each range; all are read by one query."""
    parts = [list(_subtrees(*each)) for each in ranges]
    known = _stored([node for nodes in parts for node in nodes])
    hashes = []
    for nodes in parts:
        *rest, above = (known[node] for node in nodes)
        for left in reversed(rest):
            above = node_hash(left, above)
        hashes.append(above)
    return hashes


def _subtrees(start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield level and place of the largest whole subtrees that cover a range, from left to right."""
    while start < end:
        level = (end - start).bit_length() - 1
        if start:
            level = min(level, (start & -start).bit_length() - 1)
        yield level, start >> level
        start += 1 << level


def _stored(nodes: Sequence[tuple[int, int]]) -> dict[tuple[int, int], bytes]:
    found = LogNode.objects.in_bulk([_id(*node) for node in nodes])
    return {node: bytes(found[_id(*node)].hash) for node in nodes}


def _id(level: int, place: int) -> int:
    return level << PLACE_BITS | place
