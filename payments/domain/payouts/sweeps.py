"""What happens to payouts as time passes: reserves are released."""

from contextlib import suppress

from payments import clock
from payments.db.writes import StaleRow
from payments.domain.payouts import states
from payments.models import Payout
from payments.sweeps.scope import ALL_MERCHANTS, Scope

BATCH = 100


def release_reserves(limit: int = BATCH, scope: Scope = ALL_MERCHANTS) -> int:
    """Release the reserves whose time is over; return how many were due."""
    due = list(
        Payout.objects.filter(scope.within(), reserve_due_at__lte=clock.now()).order_by("reserve_due_at")[:limit]
    )
    for payout in due:
        # Another process was first.
        with suppress(StaleRow):
            states.release_reserve(payout)
    return len(due)
