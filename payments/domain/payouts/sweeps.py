"""What happens to payouts as time passes: reserves are released."""

from payments import clock
from payments.domain.payouts import states
from payments.models import Payout
from payments.sweeps.in_turn import each_in_turn
from payments.sweeps.scope import ALL_MERCHANTS, Scope


def release_reserves(scope: Scope = ALL_MERCHANTS) -> int:
    """Release the reserves whose time is over; return how many."""
    due = Payout.objects.filter(scope.within(), reserve_due_at__lte=clock.now())
    return each_in_turn(due, "reserve_due_at", _release)


def _release(payout: Payout) -> bool:
    states.release_reserve(payout)
    return True
