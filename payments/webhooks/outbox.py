"""The outbox: webhooks are written in the statement of the change that they tell of, and found there when due."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q

from payments.db.writes import Insert
from payments.models import Event, Webhook
from payments.models.webhook import WebhookQuerySet
from payments.webhooks.urls import ForbiddenUrl, check_url
from payments.webhooks.wake_up import nudge

# What shares the limit of the URLs that may not be called: none of them reaches the network.
NOBODY = "forbidden"


def build_webhook(event: Event, url: str) -> Insert:
    """The write by which `event`, in hand and about to be written, will be told to `url`, at once."""
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
    return Insert(webhook, after_commit=nudge)


def receiver_of(url: str, livemode: bool) -> str:
    """Whom `url` calls, as scheme://host:port; what may not be called counts as one receiver."""
    try:
        return check_url(url, livemode).receiver
    except ForbiddenUrl:
        return NOBODY


@transaction.atomic
def send_again(webhooks: WebhookQuerySet, now: datetime) -> list[Webhook]:
    """Makes `webhooks` due at `now`, whatever became of them, at the start of a new schedule; returns which.

    One that a worker has in hand is left to it, and nothing of the tries made so far is lost.
    """
    free = list(_not_in_hand(webhooks, now).select_for_update(no_key=True))
    rows = Webhook.objects.filter(id__in=[row.id for row in free])
    if rows.update(state=Webhook.State.WAITING, due_at=now, leased_until=None, failures=0, first_try_at=None):
        transaction.on_commit(nudge, robust=True)
    return free


def bring_nearer(webhooks: WebhookQuerySet, by: timedelta, now: datetime) -> None:
    """Those of `webhooks` that wait are tried, and given up, sooner by so much; a worker is woken on commit.

    One that a worker has in hand is left to it.
    """
    waiting = _not_in_hand(webhooks.filter(state=Webhook.State.WAITING, due_at__isnull=False), now)
    # One that is locked is being taken in hand or put down at this moment.
    free = list(waiting.select_for_update(skip_locked=True, no_key=True).values_list("id", flat=True))
    rows = Webhook.objects.filter(id__in=free)
    if rows.update(due_at=F("due_at") - by, first_try_at=F("first_try_at") - by):
        transaction.on_commit(nudge, robust=True)


def _not_in_hand(webhooks: WebhookQuerySet, now: datetime) -> WebhookQuerySet:
    return webhooks.filter(Q(leased_until=None) | Q(leased_until__lte=now))
