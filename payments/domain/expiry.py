"""What runs out by itself: holds, and the CVCs that no authorization used."""

import logging

from payments import clock
from payments.domain import operations
from payments.domain.caller import Caller
from payments.domain.errors import PaymentError
from payments.domain.scope import EVERYBODY, Scope
from payments.ids import public_id
from payments.models import Card, Charge

logger = logging.getLogger("kaha.expiry")

BATCH = 100


def void_expired_holds(limit: int = BATCH, scope: Scope = EVERYBODY) -> int:
    """Releases at most `limit` holds whose days are over; returns how many it released."""
    due = Charge.objects.filter(scope.within(), hold_expires_at__lte=clock.now(), operation="")
    return sum(_release(charge) for charge in due.order_by("hold_expires_at")[:limit])


def destroy_unused_cvcs(scope: Scope = EVERYBODY) -> int:
    """Destroys every sealed CVC whose time is over; returns how many."""
    due = Card.objects.filter(scope.within("source__"), sealed_cvc__isnull=False, cvc_expires_at__lte=clock.now())
    return due.update(sealed_cvc=None, cvc_expires_at=None)


def _release(charge: Charge) -> bool:
    charge_id = public_id("ch", charge.id)
    try:
        answer = operations.release(Caller.service(charge), charge_id)
    except PaymentError as refusal:
        logger.warning("expired hold was not released", extra={"charge": charge_id, "code": refusal.code})
        return False
    return answer.status == 200
