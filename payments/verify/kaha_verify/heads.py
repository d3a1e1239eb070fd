"""Signed heads of a log, and the Merkle tree that they are of (RFC 6962)."""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import reduce
from itertools import pairwise

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

SKEW = timedelta(minutes=5)  # Clocks differ by this at most.


class Fault(Exception):
    """Something does not hold; the message says what."""


@dataclass(frozen=True)
class Key:
    """A public key of the service, with its name and ID."""

    name: str
    id: bytes
    public: bytes


@dataclass(frozen=True)
class Head:
    """A signed head: the root over the first `size` leaves of the log named `origin`."""

    origin: str
    size: int
    root: bytes
    signed_at: datetime

    def __str__(self) -> str:
        return f"the head of {self.size:,} leaves that was signed at {self.signed_at:%Y-%m-%d %H:%M:%S} UTC"


def read_key(text: str) -> Key:
    """Return a key in the form of /transparency/keys: name, ID and key with plus signs between them."""
    try:
        name, key_id, encoded = text.strip().split("+", 2)
        raw = base64.b64decode(encoded, validate=True)
    except ValueError:
        raise Fault(f"{text!r} is not a public key as /transparency/keys shows it.") from None
    made = hashlib.sha256(name.encode() + b"\n" + raw).digest()[:4]
    # The first byte says that it is for Ed25519.
    if raw[:1] != b"\x01" or len(raw) != 33 or made.hex() != key_id:
        raise Fault(f"The public key {name}+{key_id} is damaged.")
    return Key(name, made, raw[1:])


def read_head(note: str, keys: Sequence[Key]) -> Head:
    """Return the head of a signed note; raise Fault unless one of `keys` signed it."""
    text, _, signatures = note.partition("\n\n")
    text += "\n"
    if not any(_is_signed(text, line, key) for line in signatures.splitlines() for key in keys):
        raise Fault("A head is not signed by any of the given keys.")
    try:
        origin, size, root, moment = text.splitlines()
        return Head(origin, int(size), base64.b64decode(root, validate=True), moment_of(moment))
    except ValueError:
        raise Fault("A head is signed and says nothing that is known.") from None


def read_heads(notes: Iterable[str], keys: Sequence[Key]) -> list[Head]:
    """Return the heads of notes, the smallest first; raise Fault for one to come or a later one with fewer leaves."""
    heads = sorted((read_head(note, keys) for note in notes), key=lambda head: (head.size, head.signed_at))
    if to_come := [head for head in heads if head.signed_at > datetime.now(UTC) + SKEW]:
        raise Fault(f"Of a time to come, by this clock: {', '.join(map(str, to_come))}. Keep it, and check the rest.")
    for smaller, larger in pairwise(heads):
        if larger.signed_at < smaller.signed_at:
            raise Fault(f"A later head has fewer leaves: {smaller}, after {larger}. Keep both: each is signed.")
    return heads


def _is_signed(text: str, line: str, key: Key) -> bool:
    try:
        mark, name, encoded = line.split(" ")
        raw = base64.b64decode(encoded, validate=True)
        Ed25519PublicKey.from_public_bytes(key.public).verify(raw[4:], text.encode())
    except (ValueError, InvalidSignature):
        return False
    return (mark, name, raw[:4], text.partition("\n")[0]) == ("\N{EM DASH}", key.name, key.id, key.name)


def moment_of(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)


def node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


class Tree:
    """A tree that grows leaf by leaf, of which the roots of whole subtrees on its edge are kept."""

    def __init__(self) -> None:
        self.size = 0
        self._edge: list[tuple[int, bytes]] = []

    def add(self, leaf: bytes) -> None:
        level = 0
        while self._edge and self._edge[-1][0] == level:
            leaf, level = node_hash(self._edge.pop()[1], leaf), level + 1
        self._edge.append((level, leaf))
        self.size += 1

    def root(self) -> bytes:
        hashes = [each for _, each in reversed(self._edge)] or [hashlib.sha256().digest()]
        return reduce(lambda right, left: node_hash(left, right), hashes)


def root_by_inclusion(number: int, size: int, leaf: bytes, path: Sequence[bytes]) -> bytes:
    """Return the root that a leaf and its path lead to (RFC 6962, 2.1.1)."""
    if not 0 <= number < size or (size == 1) != (not path):
        raise Fault(f"Leaf {number} of {size} has no path of this length.")
    if size == 1:
        return leaf
    half, (*rest, beside) = 1 << (size - 1).bit_length() - 1, path
    if number < half:
        return node_hash(root_by_inclusion(number, half, leaf, rest), beside)
    return node_hash(beside, root_by_inclusion(number - half, size - half, leaf, rest))


def check_consistency(old: Head, new: Head, proof: Sequence[bytes]) -> None:
    """Raise Fault unless the log of `old` is the beginning of that of `new` (RFC 6962, 2.1.2)."""
    if old.origin != new.origin or not 0 < old.size <= new.size:
        raise Fault(f"{old} of {old.origin} does not come before {new} of {new.origin}.")
    left = list(proof)
    if _roots(old.size, new.size, old.root, left) != (old.root, new.root) or left:
        raise Fault(f"The log has forked: {old} is no beginning of {new}. Keep both: each is signed.")


def _roots(first: int, second: int, known: bytes | None, proof: list[bytes]) -> tuple[bytes, bytes]:
    """Return the roots of the first leaves and of all, taking hashes from the end of `proof`, empty ones after it."""
    if first == second:
        root = known or (proof.pop() if proof else b"")
        return root, root
    half, beside = 1 << (second - 1).bit_length() - 1, proof.pop() if proof else b""
    if first <= half:
        old, new = _roots(first, half, known, proof)
        return old, node_hash(new, beside)
    old, new = _roots(first - half, second - half, None, proof)
    return node_hash(beside, old), node_hash(beside, new)
