"""Decline alerts after they were raised: acknowledged by an operator, and over when declines are few again."""

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Exists, F, OuterRef

from payments import clock
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.models import DeclineAlert
from payments.models.operators.reasons import free_of_secrets


class AlreadyAcknowledged(Exception):
    """Another operator was first."""


def acknowledge(alert: DeclineAlert, operator: AbstractBaseUser, reason: str) -> None:
    """Note that `operator` deals with the alert. Raises AlreadyAcknowledged, and ValidationError for a secret."""
    free_of_secrets(reason)
    with transaction.atomic():
        rows = DeclineAlert.objects.filter(id=alert.id, acknowledged_at=None)
        if not rows.update(acknowledged_by=operator, acknowledged_at=clock.now()):
            raise AlreadyAcknowledged
        audit_log.record(Action.ACKNOWLEDGED, alert, reason=reason)


def end_over() -> int:
    """End the alerts after which a whole window has passed without another one of their kind; return how many."""
    now = clock.now()
    same = {name: OuterRef(name) for name in ("merchant", "livemode", "kind")}
    length = OuterRef("window_ends_at") - OuterRef("window_starts_at")
    later = DeclineAlert.objects.filter(
        **same, window_starts_at__gt=OuterRef("window_starts_at"), window_ends_at__gt=now - length
    )
    own_length = F("window_ends_at") - F("window_starts_at")
    quiet = DeclineAlert.objects.filter(over_at=None, window_ends_at__lte=now - own_length)
    return quiet.filter(~Exists(later)).update(over_at=now)
