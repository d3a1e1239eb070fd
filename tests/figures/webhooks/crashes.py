"""Whether anything is lost, and how much is repeated, when workers are killed and Redis forgets everything."""

from collections import Counter
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

import redis
from django.conf import settings

from payments import clock
from payments.embedded.processes import wait_until
from payments.ids import public_id
from payments.models import Webhook
from payments.webhooks.claims import LEASE
from payments.webhooks.wake_up import wake_worker
from tests.figures.webhooks.events import new_merchant, put_events
from tests.support.processes import PATIENCE_SECONDS
from tests.support.receiver import Receiver
from tests.support.worker import Worker, nothing_waits

RECEIVERS = 5
# Slow enough that a kill always finds events on their way.
REPLY_DELAY_SECONDS = 0.2
# A claimed event: its ID and the end of its lease.
Lease = tuple[str, datetime]


def crashes(folder: Path, events: int, kills: int, waits_for_leases: bool = True) -> dict[str, object]:
    """Kill the worker and wipe Redis `kills` times while `events` are under way, then let a last one finish.

    Each kill has a merchant of its own, because what the dead had claimed of one is bounded until their leases end.
    Without `waits_for_leases` the leases of the dead end at once instead of after LEASE.
    """
    worker = Worker(folder)
    sent: list[str] = []
    claimed: set[Lease] = set()
    with ExitStack() as stack:
        stack.callback(worker.kill)
        receivers = [stack.enter_context(Receiver(delay_seconds=REPLY_DELAY_SECONDS)) for _ in range(RECEIVERS)]
        for _ in range(kills):
            merchant = new_merchant()
            for receiver in receivers:
                sent += put_events(merchant, receiver.url, events // kills // RECEIVERS, clock.now())
            claimed |= _killed_while_sending(worker, receivers)
            if not waits_for_leases:
                Webhook.objects.filter(leased_until__isnull=False).update(leased_until=clock.now())
        worker.start()
        all_sent = wait_until(nothing_waits, PATIENCE_SECONDS + LEASE.total_seconds() + events / 50)
    tries = Counter(event_id for receiver in receivers for event_id in receiver.event_ids)
    deaths = Counter(event_id for event_id, _ in claimed)
    return {
        "events": len(sent),
        "kills": kills,
        "wipes": kills,
        "all_delivered": all_sent and not Webhook.objects.exclude(state="delivered").exists(),
        "lost": sum(tries[event_id] == 0 for event_id in sent),
        "repeats": tries.total() - len(sent),
        "claimed_when_killed": len(claimed),
        "events_repeated_more_than_killed": sum(tries[event_id] > 1 + deaths[event_id] for event_id in sent),
    }


def _killed_while_sending(worker: Worker, receivers: list[Receiver]) -> set[Lease]:
    """Start a worker, wipe Redis, and kill the worker while it sends; return what it had claimed."""
    before = _calls(receivers)
    worker.start()
    wake_worker()
    assert wait_until(lambda: _calls(receivers) > before, PATIENCE_SECONDS)
    redis.Redis.from_url(settings.REDIS_URL).flushdb()
    worker.kill()
    leased = Webhook.objects.filter(leased_until__gt=clock.now())
    return {(public_id("evt", event_id), lease) for event_id, lease in leased.values_list("event_id", "leased_until")}


def _calls(receivers: list[Receiver]) -> int:
    return sum(len(receiver.calls) for receiver in receivers)
