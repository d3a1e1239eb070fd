"""What happens to payouts as time passes: reserves are released, and payouts of test mode go to a simulated bank."""

from contextlib import suppress
from datetime import timedelta

from payments import clock
from payments.db.writes import StaleRow
from payments.domain.payouts import states
from payments.domain.sweep_scope import ALL_MERCHANTS, Scope
from payments.models import Payout

BATCH = 100
PAID_AFTER = timedelta(days=1)
RETURNED_AFTER = timedelta(days=2)
# The last digits of the account numbers that the simulated bank refuses at once, and from which money comes back.
REFUSED, RETURNED = "0002", "0003"
Status = Payout.Status


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


def simulate_bank(limit: int = BATCH, scope: Scope = ALL_MERCHANTS) -> int:
    """Move the due payouts of test mode on, as a bank would; return how many were due."""
    rows = Payout.objects.filter(scope.within(), livemode=False, due_at__lte=clock.now())
    due = list(rows.select_related("account").order_by("due_at")[:limit])
    for payout in due:
        with suppress(StaleRow):
            _simulate(payout)
    return len(due)


def _simulate(payout: Payout) -> None:
    now, last4 = clock.now(), payout.account.last4
    match payout.status:
        case Status.PENDING:
            states.mark_sent(payout, due_at=now + PAID_AFTER)
        case Status.IN_TRANSIT if last4 == REFUSED:
            states.mark_failed(payout, "account_refused")
        case Status.IN_TRANSIT:
            states.mark_paid(payout, due_at=now + RETURNED_AFTER if last4 == RETURNED else None)
        case _:
            states.mark_failed(payout, "returned")
