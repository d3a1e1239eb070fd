"""When a webhook that failed is tried again (contract, section 8)."""

from datetime import datetime, timedelta

MINUTE, HOUR = 60, 3600
# From one try to the next; the last one repeats.
DELAYS_SECONDS = (5, 30, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, 12 * HOUR)
TRIED_FOR = timedelta(days=3)
JITTER = 0.1


def next_try_at(
    first_try_at: datetime, failures: int, now: datetime, random: float, retry_after_seconds: float | None = None
) -> datetime | None:
    """Return the time of the attempt after `failures` (1 or more), the last at `now`; None to give up.

    `random` (0 up to 1) spreads the delay over ±10 %. A receiver that asked for more time by `retry_after_seconds`
    gets it, but never longer than the delay that would follow.
    """
    delay = _delay_seconds(failures) * (1 - JITTER + 2 * JITTER * random)
    if retry_after_seconds is not None:
        delay = max(delay, min(retry_after_seconds, _delay_seconds(failures + 1)))
    moment = now + timedelta(seconds=delay)
    return moment if moment <= first_try_at + TRIED_FOR else None


def _delay_seconds(failures: int) -> int:
    return DELAYS_SECONDS[min(failures, len(DELAYS_SECONDS)) - 1]
