"""Signed heads of a log, and the Merkle tree that they are of (RFC 6962)."""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

ED25519 = 1


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
        kind, public = (raw := base64.b64decode(encoded, validate=True))[0], raw[1:]
    except (ValueError, IndexError):
        raise Fault(f"{text!r} is not a public key as /transparency/keys shows it.") from None
    made = hashlib.sha256(name.encode() + b"\n" + raw).digest()[:4]
    if kind != ED25519 or len(public) != 32 or made.hex() != key_id:
        raise Fault(f"The public key {name}+{key_id} is damaged.")
    return Key(name, made, public)


def read_head(note: str, keys: Sequence[Key]) -> Head:
    """Return the head of a signed note; raise Fault unless one of `keys` signed it."""
    text, _, signatures = note.partition("\n\n")
    text += "\n"
    if not any(_is_signed(text, line, key) for line in signatures.splitlines() for key in keys):
        raise Fault("A head is not signed by any of the given keys.")
    try:
        origin, size, root, moment = text.splitlines()
        head = Head(origin, int(size), base64.b64decode(root, validate=True), moment_of(moment))
    except ValueError:
        raise Fault("A head is signed and says nothing that is known.") from None
    if origin not in [key.name for key in keys]:
        raise Fault(f"A head is of the log {origin}, for which no key was given.")
    return head


def _is_signed(text: str, line: str, key: Key) -> bool:
    try:
        mark, name, encoded = line.split(" ")
        raw = base64.b64decode(encoded, validate=True)
        if (mark, name, raw[:4]) != ("\N{EM DASH}", key.name, key.id):
            return False
        Ed25519PublicKey.from_public_bytes(key.public).verify(raw[4:], text.encode())
    except (ValueError, InvalidSignature):
        return False
    return True


def moment_of(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)


def leaf_hash(content: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + content).digest()


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
        if not self._edge:
            return hashlib.sha256().digest()
        above = self._edge[-1][1]
        for _, left in reversed(self._edge[:-1]):
            above = node_hash(left, above)
        return above


def root_by_inclusion(number: int, size: int, leaf: bytes, path: Sequence[bytes]) -> bytes:
    """Return the root that a leaf and its path lead to (RFC 6962, 2.1.1)."""
    if not 0 <= number < size:
        raise Fault(f"Leaf {number} is not among {size}.")
    if size == 1 and not path:
        return leaf
    if size == 1 or not path:
        raise Fault(f"The path of leaf {number} has the wrong length.")
    half, (*rest, beside) = _half(size), path
    if number < half:
        return node_hash(root_by_inclusion(number, half, leaf, rest), beside)
    return node_hash(beside, root_by_inclusion(number - half, size - half, leaf, rest))


def check_consistency(old: Head, new: Head, proof: Sequence[bytes]) -> None:
    """Raise Fault unless the log of `old` is the beginning of that of `new` (RFC 6962, 2.1.2)."""
    if old.origin != new.origin:
        raise Fault(f"Two logs: {old.origin} and {new.origin}.")
    if not 0 < old.size <= new.size:
        raise Fault(f"{old} does not come before {new}.")
    left = list(proof)
    try:
        roots = _roots(old.size, new.size, old.root, left)
    except IndexError:
        roots = (b"", b"")
    if left or roots != (old.root, new.root):
        raise Fault(f"The log has forked: {old} is no beginning of {new}. Keep both: each is signed.")


def _roots(first: int, second: int, known: bytes | None, proof: list[bytes]) -> tuple[bytes, bytes]:
    """Return the roots of the first leaves and of all, taking hashes from the end of `proof`."""
    if first == second:
        root = known or proof.pop()
        return root, root
    half, beside = _half(second), proof.pop()
    if first <= half:
        old, new = _roots(first, half, known, proof)
        return old, node_hash(new, beside)
    old, new = _roots(first - half, second - half, None, proof)
    return node_hash(beside, old), node_hash(beside, new)


def _half(size: int) -> int:
    return 1 << (size - 1).bit_length() - 1
