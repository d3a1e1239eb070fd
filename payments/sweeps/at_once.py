"""How many threads of a process run a sweep at once."""

from collections.abc import Callable
from functools import wraps
from threading import BoundedSemaphore


def at_most(count: int) -> Callable[[Callable[[], int]], Callable[[], int]]:
    """Limit a sweep to `count` threads of a process; any further call returns 0 at once."""

    def bounded(sweep: Callable[[], int]) -> Callable[[], int]:
        places = BoundedSemaphore(count)

        @wraps(sweep)
        def run() -> int:
            if not places.acquire(blocking=False):
                return 0
            try:
                return sweep()
            finally:
                places.release()

        return run

    return bounded
