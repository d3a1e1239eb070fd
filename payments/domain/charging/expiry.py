"""Expiry of holds, and of card data that no authorization used."""

import logging
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef

from payments import clock
from payments.domain import bulkheads, sources
from payments.domain.charging import operations
from payments.domain.shared.caller import Caller
from payments.domain.shared.errors import PaymentError
from payments.ids import public_id
from payments.models import Attempt, Card, Charge, CvcKey
from payments.sweeps.in_turn import each_in_turn
from payments.sweeps.scope import ALL_MERCHANTS, Scope
from payments.vault import SEALING_SECONDS, Purpose

logger = logging.getLogger("kaha.expiry")

BATCH = 100


def void_expired_holds(scope: Scope = ALL_MERCHANTS) -> int:
    """Release the expired holds; return how many."""
    due = Charge.objects.filter(scope.within(), hold_expires_at__lte=clock.now(), operation="")
    if busy := bulkheads.busy_providers():
        # Holds at a slow provider must not fill the batch.
        due = due.exclude(Exists(Attempt.objects.filter(charge=OuterRef("pk"), provider__in=busy)))
    return each_in_turn(due, "hold_expires_at", _release)


def destroy_unused_cvcs(scope: Scope = ALL_MERCHANTS) -> int:
    """Destroy every expired CVC; return how many."""
    due = Card.objects.filter(scope.within("source__"), sealed_cvc__isnull=False, cvc_expires_at__lte=clock.now())
    return due.update(sealed_cvc=None, cvc_expires_at=None)


def destroy_unused_numbers(scope: Scope = ALL_MERCHANTS) -> int:
    """Destroy the number of every card that was not charged or vaulted in time; return how many.

    One whose charge is under way is left to that charge.
    """
    due = Card.objects.filter(scope.within("source__"), number_expires_at__lte=clock.now())
    due.filter(source__vaulted=True).update(number_expires_at=None)
    charging = Charge.objects.filter(source=OuterRef("source"), status=Charge.Status.PENDING)
    unused = due.filter(~Exists(charging), source__vaulted=False)
    return unused.update(sealed_number=None, number_expires_at=None)


def destroy_numbers_from_before(moment: datetime, batch: int = BATCH) -> int:
    """Destroy the number of every card from before `moment` that was neither charged nor vaulted; return how many."""
    unused = Card.objects.filter(number_expires_at__isnull=False, source__used=False, source__created_at__lt=moment)
    values = {"sealed_number": None, "number_expires_at": None, "sealed_cvc": None, "cvc_expires_at": None}
    total = 0
    while found := list(unused.values_list("id", flat=True)[:batch]):
        total += unused.filter(id__in=found).update(**values)
    return total


def destroy_cvc_keys() -> int:
    """Delete the keys whose CVCs have all expired, so that no copy can be decrypted; return how many."""
    sealing = Purpose.CVC.seals_for + timedelta(seconds=SEALING_SECONDS)
    over = clock.now() - sealing - timedelta(minutes=settings.CVC_KEEP_MINUTES)
    return CvcKey.objects.filter(created_at__lte=over).delete()[0]


def announce_expiring_cards() -> int:
    """Write an event for each kept card that expires soon, once; return how many."""
    due = Card.objects.filter(expiring_at__lte=clock.now())
    # Their customer was deleted, or full, before a subscription was paid.
    due.filter(source__vaulted=False).update(expiring_at=None)
    # One that is detached at this moment is looked at again, and is not due then.
    return each_in_turn(due.select_related("source"), "expiring_at", sources.announce_expiring)


def _release(charge: Charge) -> bool:
    charge_id = public_id("ch", charge.id)
    try:
        result = operations.release(Caller.service(charge), charge_id, expired_only=True)
    except PaymentError as refusal:
        logger.warning("expired hold was not released", extra={"charge": charge_id, "code": refusal.code})
        return False
    return result.refusal is None
