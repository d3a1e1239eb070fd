"""The vault's errors, the purposes of its data keys, and the encoding of what a key is bound to."""

from collections.abc import Iterable
from datetime import timedelta
from enum import StrEnum


class VaultError(Exception):
    """A sealed value or a wrapped key that cannot be opened: damaged, or moved from its place."""


class KeyDestroyed(VaultError):
    """The data key was destroyed, so nothing that it sealed can ever be opened."""


class VaultUnavailable(Exception):
    """A key cannot be fetched now: nothing was sealed or opened, and the caller may try again."""


class Purpose(StrEnum):
    """The kind of values that a data key seals; no key seals two kinds."""

    CARD = "card"
    SECRET = "secret"  # nosec B105 # the name of a purpose
    CVC = "cvc"

    @property
    def seals_for(self) -> timedelta:
        """Return how long a key seals new values before a new key replaces it.

        AES-GCM with random nonces is safe for 2^32 values under one key (NIST SP 800-38D, 8.3), which 30 days reach
        at more than 1600 values a second, without a pause.
        """
        return timedelta(minutes=10) if self is Purpose.CVC else timedelta(days=30)


def joined(parts: Iterable[bytes]) -> bytes:
    """Return `parts` as one string, each after its length in 4 bytes, so that different lists never look alike."""
    return b"".join([len(part).to_bytes(4, "big") + part for part in parts])
