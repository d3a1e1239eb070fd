"""The lookup of an unknown outcome that an operator asks for before it is due."""

from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.bulkheads import ProviderBusy
from payments.domain.charging import recovery
from payments.domain.shared.errors import PaymentError
from payments.models import Attempt


def look_up(attempt: Attempt) -> bool:
    """Look `attempt` up at its provider now; return False where another process does so. Raise ProviderBusy."""
    audit_log.record(Action.LOOKED_UP, attempt, detail=f"at {attempt.provider}, before it was due")
    try:
        return recovery.resolve(attempt)
    except ProviderBusy:
        raise
    except PaymentError:
        # The merchant's error for an operation that was not done is already recorded.
        return True
