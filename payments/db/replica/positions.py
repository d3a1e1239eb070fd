"""How far the primary had come at which moment, which says how old the data of a replica is.

The time of the last transaction that a replica has replayed would grow while nothing is written at all.
"""

import math
import time
from collections import deque
from collections.abc import Iterator
from threading import Lock

from payments.db.backend.bounded_connection import BoundedConnection

# Flushed, so that a replica can have it; whatever was acknowledged is flushed.
FLUSHED = "SELECT pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint"
# Ten minutes, where one is noted each second.
KEPT = 600


class Positions:
    """Positions in the write-ahead log of the primary, noted about once a second, with the moments before them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._noted: deque[tuple[float, int]] = deque(maxlen=KEPT)

    def note(self, primary: BoundedConnection) -> None:
        """Ask `primary` for its position, and keep it; raise psycopg.Error if it does not answer."""
        moment = time.monotonic()
        [[position]] = primary.execute(FLUSHED).fetchall()
        with self._lock:
            self._noted.append((moment, position))

    def age_seconds(self, replayed: int) -> float:
        """Return the greatest age of data up to the position `replayed`; infinite where it is not known."""
        moment = next((moment for moment, position in self._newest_first() if position <= replayed), -math.inf)
        return time.monotonic() - moment

    def known_seconds(self) -> float:
        """Return for how long positions have been noted, which is the greatest age that can be known."""
        moment = next(iter(self._noted), (time.monotonic(), 0))[0]
        return time.monotonic() - moment

    def _newest_first(self) -> Iterator[tuple[float, int]]:
        with self._lock:
            return reversed(list(self._noted))


positions = Positions()
