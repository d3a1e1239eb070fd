"""The outbox: webhooks are written in the statement of the change that they report, and found when due."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q

from payments.db.writes import Insert
from payments.ids import public_id
from payments.models import Event, Webhook
from payments.models.event import EventQuerySet
from payments.models.merchants.webhook_endpoint import EVERY_TYPE, PREFIX
from payments.models.webhook import WebhookQuerySet
from payments.webhooks.transport.urls import ForbiddenUrl, check_url
from payments.webhooks.wake_up import wake_worker

# What shares the limit of the URLs that may not be called: none of them reaches the network.
NOBODY = "forbidden"
# Says what leads data, money or trust elsewhere. Where an endpoint was changed it goes to the URL from before, whatever
# that endpoint has become, because the new one may be an attacker's.
NOTICE = "organization.updated"
# Of a UUIDv7, the bits below its time, its version and its variant.
RANDOM_BITS = 2**62 - 1
ADDED_AT_ONCE = 500


class Endpoint(NamedTuple):
    """What an event needs to know of an endpoint."""

    id: UUID
    url: str
    enabled_events: Iterable[str]

    def wants(self, event_type: str) -> bool:
        return EVERY_TYPE in self.enabled_events or event_type in self.enabled_events


def build_webhooks(event: Event, notify_url: str, endpoints: Iterable[Endpoint]) -> list[Insert]:
    """Return the inserts of the webhooks that send the unsaved `event` at once.

    One goes to `notify_url`, unless that is empty, and one to each of `endpoints` that lists its type.
    """
    webhooks = [build_webhook(event, notify_url)] if notify_url else []
    return webhooks + [build_webhook(event, each.url, each.id) for each in endpoints if each.wants(event.type)]


def build_webhook(event: Event, url: str, endpoint_id: UUID | None = None) -> Insert:
    """Return the insert of the webhook that sends the unsaved `event` to `url`, or to the endpoint that has it."""
    return Insert(_webhook_of(event, url, endpoint_id), after_commit=wake_worker)


def _webhook_of(event: Event, url: str, endpoint_id: UUID | None) -> Webhook:
    own_queue = endpoint_id if event.type != NOTICE else None
    return Webhook(
        # The same for the same event and endpoint.
        id=UUID(int=event.id.int ^ (endpoint_id.int & RANDOM_BITS if endpoint_id else 0)),
        event=event,
        merchant_id=event.merchant_id,
        livemode=event.livemode,
        endpoint_id=endpoint_id,
        url=url,
        receiver=public_id(PREFIX, own_queue) if own_queue else receiver_of(url, event.livemode),
        due_at=event.created_at,
        created_at=event.created_at,
    )


def add_missing(events: EventQuerySet, endpoint: Endpoint) -> int:
    """Write the webhooks of those stored `events` that the endpoint lists and that have none; return how many.

    A webhook's ID is made of its event's and its endpoint's, so there is never a second one.
    """
    count, batch = 0, list(events.order_by("id")[:ADDED_AT_ONCE])
    while batch:
        made = [_webhook_of(event, endpoint.url, endpoint.id) for event in batch if endpoint.wants(event.type)]
        known = set(Webhook.objects.filter(id__in=[row.pk for row in made]).values_list("id", flat=True))
        missing = [row for row in made if row.pk not in known]
        Webhook.objects.bulk_create(missing, ignore_conflicts=True)
        count += len(missing)
        batch = list(events.filter(id__gt=batch[-1].id).order_by("id")[:ADDED_AT_ONCE])
    if count:
        transaction.on_commit(wake_worker, robust=True)
    return count


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
