"""Whether every attempt comes when the schedule says, on a moved clock."""

from collections import Counter, defaultdict
from contextlib import ExitStack
from datetime import datetime, timedelta

from django.db.models import Min

from payments import clock
from payments.models import Webhook, WebhookAttempt
from payments.webhooks.retry_schedule import DELAYS_SECONDS, JITTER
from payments.webhooks.worker import DeliveryLoop
from tests.figures.webhooks.events import new_merchant, put_events
from tests.support.receiver import Call, Receiver, Reply

RECEIVERS = 10
# The clock jumps from one time at which something is due to the next, but not by less.
STEP = timedelta(seconds=1)
FAILING = (500, 302, 404, 429)


class MovedClock:
    """A clock that stands at the moment that it was moved to."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def __call__(self) -> datetime:
        return self.moment


class FailsAtFirst:
    """Answers the first `failures` tries of each event improperly."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self._tries: Counter[str] = Counter()

    def __call__(self, call: Call) -> Reply:
        self._tries[call.event_id] += 1
        number = self._tries[call.event_id]
        return FAILING[number % len(FAILING)] if number <= self.failures else 200


def on_schedule(events: int, most_failures: int) -> dict[str, object]:
    """Send `events` to ten receivers, every other one of which fails the first 1 to `most_failures` tries."""
    merchant, moved = new_merchant(), MovedClock(clock.now())
    sent: dict[str, int] = {}
    with ExitStack() as stack:
        receivers = []
        for number in range(RECEIVERS):
            failures = (number // 2) % most_failures + 1 if number % 2 else 0
            receiver = stack.enter_context(Receiver(FailsAtFirst(failures)))
            sent |= dict.fromkeys(put_events(merchant, receiver.url, events // RECEIVERS, moved.moment), failures)
            receivers.append(receiver)
        _move_until_over(moved)
    calls = [call for receiver in receivers for call in receiver.calls]
    return {
        "events": len(sent),
        "delivered": Webhook.objects.filter(state="delivered").count(),
        "tries": len(calls),
        "events_with_other_tries_than_expected": _wrongly_often(calls, sent),
        "tries_with_another_body_or_id": _changed(calls),
        "tries_off_schedule": _off_schedule(),
        "hours_of_moved_clock": round((moved.moment - _began()).total_seconds() / 3600, 2),
    }


def _move_until_over(moved: MovedClock) -> None:
    drain = DeliveryLoop(now=moved)
    while due_at := Webhook.objects.aggregate(first=Min("due_at"))["first"]:
        moved.moment = max(due_at, moved.moment + STEP)
        drain.run()


def _wrongly_often(calls: list[Call], sent: dict[str, int]) -> int:
    tries = Counter(call.event_id for call in calls)
    return sum(tries[event_id] != failures + 1 for event_id, failures in sent.items())


def _changed(calls: list[Call]) -> int:
    bodies: dict[str, set[bytes]] = defaultdict(set)
    for call in calls:
        bodies[call.event_id].add(call.body)
    return sum(len(seen) > 1 or call.event["id"] != call.event_id for call in calls for seen in [bodies[call.event_id]])


def _off_schedule() -> int:
    """Count the attempts that came too early or too late after the one before them."""
    began: dict[object, list[datetime]] = defaultdict(list)
    for webhook, started_at in WebhookAttempt.objects.order_by("number").values_list("webhook_id", "started_at"):
        began[webhook].append(started_at)
    return sum(
        not delay * (1 - JITTER) <= (after - before).total_seconds() <= delay * (1 + JITTER) + STEP.total_seconds()
        for moments in began.values()
        for delay, before, after in zip(DELAYS_SECONDS, moments, moments[1:], strict=False)
    )


def _began() -> datetime:
    began: datetime = Webhook.objects.aggregate(first=Min("created_at"))["first"]
    return began
