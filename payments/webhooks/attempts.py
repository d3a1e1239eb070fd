"""Attempts under way: many at once, each in the place that its bulkhead has for it."""

import asyncio
import json
import logging
import random
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime, timedelta

from payments.ids import moment_of, parse_id, public_id
from payments.metrics.counters import count_webhook_attempts
from payments.traces import spans, sweeps
from payments.traces.calls import TracedCall, record_call
from payments.traces.spans import Side, Span, Trace
from payments.webhooks.attempt_rules import finished_attempt
from payments.webhooks.claims import Claimed, FinishedAttempt, Shares
from payments.webhooks.receiver_queues import ReceiverQueues, SlowReceivers, TakenPlace
from payments.webhooks.signing_secrets import Signers
from payments.webhooks.transport.client import Limits, Transport
from payments.webhooks.transport.name_lookup import Lookup
from payments.webhooks.transport.results import TIMEOUTS, Answer, Failure, FailureKind

logger = logging.getLogger("kaha.webhooks")

Clock = Callable[[], datetime]

# Attempts that have ended are collected, so that many are recorded together: for how long at most, after which due
# webhooks are looked for, too; and how many are enough.
LOOK_SECONDS = 0.1
RECORDED_TOGETHER = 200
TRY_TIME = timedelta(seconds=Limits().total_seconds)
# A receiver whose try took longer counts as slow until one takes less.
SLOW_MILLISECONDS = TRY_TIME / timedelta(milliseconds=2)
NANOSECONDS = 1_000_000_000


class Attempts:
    """The attempts of one event loop. `now` returns the time at which they end."""

    def __init__(self, transport: Transport, now: Clock, slow: SlowReceivers | None = None) -> None:
        self._transport = transport
        self._now = now
        self._queues = ReceiverQueues(slow or SlowReceivers())
        self._runners: set[asyncio.Task[None]] = set()
        self._ended: list[FinishedAttempt] = []
        self._enough = RECORDED_TOGETHER
        self._enough_ended = asyncio.Event()

    @property
    def over(self) -> bool:
        """Whether none is claimed and all that ended were taken."""
        return not self._queues.claimed_count and not self._ended

    def shares(self) -> Shares:
        """Return what the next claim has to know."""
        return self._queues.shares()

    def start(self, batch: Iterable[Claimed], signers: Signers) -> None:
        """Start the attempts of `batch`; `signers` has the signers of all its merchants."""
        for claimed in batch:
            self._queues.add(claimed, signers)
        self._start_runners()

    def take_ended(self) -> list[FinishedAttempt]:
        """Return those that have ended since the last call."""
        ended, self._ended = self._ended, []
        count_webhook_attempts(each.error if each.status is None else f"{each.status // 100}xx" for each in ended)
        return ended

    def give_up_waiting(self) -> list[Claimed]:
        """Release those that have not begun."""
        return self._queues.give_up_waiting()

    async def wait(self, others_expected: bool) -> None:
        """Wait until enough have ended, or all where no others are expected; LOOK_SECONDS at most."""
        left = self._queues.claimed_count + len(self._ended)
        self._enough = RECORDED_TOGETHER if others_expected else max(1, min(left, RECORDED_TOGETHER))
        self._enough_ended.clear()
        if len(self._ended) < self._enough:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._enough_ended.wait()

    def _start_runners(self) -> None:
        while place := self._queues.take():
            runner = asyncio.create_task(self._run(place))
            self._runners.add(runner)
            runner.add_done_callback(self._runners.discard)

    async def _run(self, first: TakenPlace) -> None:
        place: TakenPlace | None = first
        while place:
            slow: bool | None = None
            try:
                slow = await self._try(place)
            finally:
                self._queues.end(place, slow)
            if len(self._ended) >= self._enough:
                self._enough_ended.set()
            place = self._queues.take()
            # One place that is free again can be room for two, each of another merchant.
            self._start_runners()

    async def _try(self, place: TakenPlace) -> bool | None:
        """Make one attempt; return whether it was slow, or None where none was made."""
        claimed, started_at = place.claimed, self._now()
        # One that waited too long is left for the next claim, so that no two workers send it.
        if started_at + TRY_TIME >= claimed.lease:
            return None
        result = await self._result(place, started_at)
        record_spans(claimed, result)
        self._ended.append(finished_attempt(claimed, result, started_at, self._now(), random.random()))  # nosec B311 # no secret
        return result.milliseconds > SLOW_MILLISECONDS or (isinstance(result, Failure) and result.kind in TIMEOUTS)

    async def _result(self, place: TakenPlace, moment: datetime) -> Answer | Failure:
        claimed, owner = place.claimed, place.receiver.owner
        if claimed.url is None:
            return Failure(FailureKind.SWITCHED_OFF, 0, "The endpoint was disabled or deleted.")
        event_id = public_id("evt", claimed.event_id)
        try:
            headers = place.signers[*owner, claimed.endpoint_id].headers_of(event_id, claimed.payload, moment)
            lookup = Lookup(owner, place.receiver.slow)
            return await self._transport.send(claimed.url, claimed.payload, headers, claimed.livemode, lookup)
        except Exception:
            logger.exception("a webhook attempt broke", extra={"event": event_id})
            return Failure(FailureKind.BROKEN, 0)


def record_spans(claimed: Claimed, result: Answer | Failure) -> None:
    """Record an attempt that has just ended in the trace of the request that caused its event, and in the sweep's.

    An event without a request, such as one of a settlement, is a trace of its own, with its wait as the root.
    """
    if spans.exporter():
        # An attempt must not fail because of its trace.
        with suppress(Exception):
            _record_spans(claimed, result)


def _record_spans(claimed: Claimed, result: Answer | Failure) -> None:
    request_id = parse_id("req", str(json.loads(claimed.payload)["request"].get("id", "")))
    trace = spans.trace_of_uuid(request_id or claimed.event_id)
    if trace is None and sweeps.under_way.get() is None:
        return
    ended = time.time_ns()
    started = ended - result.milliseconds * 1_000_000
    if trace and claimed.first_try_at is None:
        _record_wait(trace, claimed, started)
    attributes: dict[str, str | int | bool] = {"kaha.event": public_id("evt", claimed.event_id)}
    if isinstance(result, Answer):
        attributes["http.response.status_code"] = result.status
        failed = not result.is_proper
    else:
        attributes["error.type"], failed = result.kind.value, True
    request = public_id("req", request_id) if request_id else ""
    record_call(trace, TracedCall("webhook attempt", started, ended, attributes, failed, request))


def _record_wait(trace: Trace, claimed: Claimed, until: int) -> None:
    """Record the time from the event, whose ID has it, to the first attempt."""
    since = moment_of(claimed.event_id).timestamp()
    written = min(round(since * NANOSECONDS), until)
    attributes = {"kaha.event": public_id("evt", claimed.event_id)}
    is_root = trace.uuid == claimed.event_id
    spans.record(Span(trace, "webhook in outbox", written, until, Side.INTERNAL, attributes, is_root=is_root))
