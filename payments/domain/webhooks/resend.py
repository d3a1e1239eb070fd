"""Webhooks that operators select by filters and send again."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from payments import clock
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.models import Merchant, Webhook
from payments.models.webhook import WebhookQuerySet
from payments.webhooks.outbox import send_again

AT_ONCE = 1_000
BEFORE_ALL = UUID(int=0)


def matching(
    merchant: Merchant | None = None,
    livemode: bool | None = None,
    state: str | None = None,
    event_type: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> WebhookQuerySet:
    """Return the webhooks that match every given condition; created from `since` on and before `until`."""
    conditions: dict[str, Any] = {
        "merchant": merchant,
        "livemode": livemode,
        "state": state,
        "event__type": event_type,
        "created_at__gte": since,
        "created_at__lt": until,
    }
    return Webhook.objects.filter(**{name: value for name, value in conditions.items() if value is not None})


def resend(webhooks: QuerySet[Webhook]) -> int:
    """Send each of `webhooks` again in any state, from the start of the schedule; return how many.

    One that a worker has claimed is left to it. Many go in parts, so that no worker waits for long.
    """
    count, last = 0, BEFORE_ALL
    ids = webhooks.order_by("id").values_list("id", flat=True)
    while part := list(ids.filter(id__gt=last)[:AT_ONCE]):
        with transaction.atomic():
            # By ID, so that the row's lease is checked as it is now, not as it was found.
            sent = send_again(Webhook.objects.filter(id__in=part), clock.now())
            audit_log.record_all(Action.SENT_AGAIN, sent)
        count, last = count + len(sent), part[-1]
    return count
