"""The outbox: webhooks are written in the statement of the change that they report, and found when due."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q

from payments.db.writes import Insert
from payments.models import Event, Webhook
from payments.models.webhook import WebhookQuerySet
from payments.webhooks.transport.urls import ForbiddenUrl, check_url
from payments.webhooks.wake_up import wake_worker

# What shares the limit of the URLs that may not be called: none of them reaches the network.
NOBODY = "forbidden"


def build_webhook(event: Event, url: str) -> Insert:
    """Return the insert of the webhook that sends the unsaved `event` to `url` at once."""
    webhook = Webhook(
        id=event.id,
        event=event,
        merchant_id=event.merchant_id,
        livemode=event.livemode,
        url=url,
        receiver=receiver_of(url, event.livemode),
        due_at=event.created_at,
        created_at=event.created_at,
    )
    return Insert(webhook, after_commit=wake_worker)


def receiver_of(url: str, livemode: bool) -> str:
    """Return the receiver of `url` as scheme://host:port; all forbidden URLs count as one receiver."""
    try:
        return check_url(url, livemode).receiver
    except ForbiddenUrl:
        return NOBODY


@transaction.atomic
def send_again(webhooks: WebhookQuerySet, now: datetime) -> list[Webhook]:
    """Make `webhooks` in any state due at `now`, at the start of a new schedule; return which.

    One that a worker has claimed is left to it. The attempts made so far are kept.
    """
    free = list(_unclaimed(webhooks, now).select_for_update(no_key=True))
    rows = Webhook.objects.filter(id__in=[row.id for row in free])
    if rows.update(state=Webhook.State.WAITING, due_at=now, leased_until=None, failures=0, first_try_at=None):
        transaction.on_commit(wake_worker, robust=True)
    return free


def bring_nearer(webhooks: WebhookQuerySet, by: timedelta, now: datetime) -> None:
    """Move the deadlines of waiting `webhooks` nearer by `by`; wake a worker on commit.

    One that a worker has claimed is left to it.
    """
    waiting = _unclaimed(webhooks.filter(state=Webhook.State.WAITING, due_at__isnull=False), now)
    # A locked one is being claimed or recorded at this moment.
    free = list(waiting.select_for_update(skip_locked=True, no_key=True).values_list("id", flat=True))
    rows = Webhook.objects.filter(id__in=free)
    if rows.update(due_at=F("due_at") - by, first_try_at=F("first_try_at") - by):
        transaction.on_commit(wake_worker, robust=True)


def _unclaimed(webhooks: WebhookQuerySet, now: datetime) -> WebhookQuerySet:
    return webhooks.filter(Q(leased_until=None) | Q(leased_until__lte=now))
