"""The API keys that this process read within the last second, each with its merchant."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from cachetools import TLRUCache

from payments.domain import prepared_reads
from payments.models import ApiKey

# A key that is revoked, or a merchant's terms, hold everywhere after so long. Nobody waits for longer to stop a thief,
# and a key that is in much use is read a few hundred times less.
KEPT_SECONDS = 1.0
KEPT_COUNT = 1000


@dataclass(frozen=True, slots=True)
class Known:
    """A key as it was when it was asked for."""

    key: ApiKey
    asked_at: float


class KnownKeys:
    """Keys by the digests of their texts, kept for `seconds`; `timer` tells them.

    Many requests have the same key in hand at once and change nothing of it but when it was last used. Whether it has
    expired is for them to see.
    That there is no such key is never kept.
    """

    def __init__(self, seconds: float = KEPT_SECONDS, timer: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._timer = timer
        self._lock = Lock()
        self._known: TLRUCache[bytes, Known] = TLRUCache(KEPT_COUNT, self._over_at, timer)

    def find(self, digest: bytes) -> ApiKey | None:
        """The key of this digest, its merchant at hand."""
        with self._lock:
            # Looking something up leaves what is over where it is.
            self._known.expire()
            known = self._known.get(digest)
        return known.key if known else self._read(digest)

    def _read(self, digest: bytes) -> ApiKey | None:
        # The second starts before the question: the answer may be overtaken by the time it is here.
        asked_at = self._timer()
        key = prepared_reads.key.first(digest=digest)
        if key is not None:
            with self._lock:
                self._known[digest] = Known(key, asked_at)
        return key

    def _over_at(self, _: bytes, known: Known, now: float) -> float:
        return known.asked_at + self.seconds


known_keys = KnownKeys()
