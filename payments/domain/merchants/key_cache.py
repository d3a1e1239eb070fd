"""A cache of the API keys that this process read within the last second, each with its merchant."""

import time
from collections.abc import Callable
from threading import Lock
from typing import Any
from uuid import UUID

from payments.domain import prepared_reads
from payments.models import ApiKey
from payments.webhooks.outbox import Endpoint

# A revocation, or a change of the merchant's terms, holds everywhere after so long: short enough to stop a thief, and
# long enough to save a busy key a few hundred reads.
KEPT_SECONDS = 1.0
KEPT_COUNT = 1000


class KeyCache:
    """Keys by the digests of their texts, kept for `seconds` by the clock `timer`.

    Requests share a key's object and change nothing of it but `last_used_at`. They check themselves whether it has
    expired. A missing key is never cached.
    """

    def __init__(self, seconds: float = KEPT_SECONDS, timer: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._timer = timer
        self._lock = Lock()
        # Each key with the time at which it was read, the first one read longest ago.
        self._known: dict[bytes, tuple[ApiKey, float]] = {}

    def find(self, digest: bytes) -> ApiKey | None:
        """Return the key of this digest with its merchant, or None."""
        known = self._known.get(digest)
        if known and self._timer() < known[1] + self.seconds:
            return known[0]
        # The time before the query, because the row may change while its answer is on the way.
        read_at = self._timer()
        key = prepared_reads.key.first(digest=digest)
        if key is not None:
            row: Any = key
            row.endpoint_list = [Endpoint(UUID(each.pop("id")), **each) for each in row.endpoint_list]
        with self._lock:
            self._known.pop(digest, None)
            if key is not None:
                self._known[digest] = key, read_at
            while self._known and self._is_over(*next(iter(self._known.values()))):
                del self._known[next(iter(self._known))]
        return key

    def _is_over(self, _key: ApiKey, read_at: float) -> bool:
        return len(self._known) > KEPT_COUNT or self._timer() >= read_at + self.seconds


cached_keys = KeyCache()
