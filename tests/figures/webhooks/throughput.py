"""Events delivered per second by one worker process, beside the same client library in a bare loop."""

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

import aiohttp

from payments import clock
from payments.concurrency.garbage import freeze_loaded_objects
from payments.ids import public_id
from payments.models import Event, Merchant, Webhook
from payments.webhooks.receiver_queues import SENDS_AT_ONCE_TO_RECEIVER
from payments.webhooks.signatures import Signer
from payments.webhooks.worker import DeliveryLoop
from tests.figures.webhooks.events import new_merchant, put_events
from tests.support.receiver import receiver_process

# What a request carries: the headers that sign it, and its body.
Signed = tuple[Mapping[str, str], bytes]


def throughput(events: int, rounds: int) -> dict[str, float]:
    """Deliver `events`, and send the same signed bytes in bare loops, in turn and `rounds` times.

    The worker claims, signs, sends to a receiver in another process, and records each attempt. A bare loop only uses
    the client library: one sends one request after the other, the other uses as many connections as the worker. All
    run with the worker's settings of the garbage collector. A rate is that of the best round; a ratio is the median
    of all rounds, because the parts of one round had much the same machine.
    """
    freeze_loaded_objects()
    merchant = new_merchant()
    with receiver_process() as url:
        measured = [_one_round(merchant, url, events) for _ in range(rounds)]
    delivered, in_turn, at_once = ([events / seconds for seconds in column] for column in zip(*measured, strict=True))
    return {
        "events": events,
        "delivered_per_second": round(max(delivered)),
        "bare_in_turn_per_second": round(max(in_turn)),
        "bare_at_once_per_second": round(max(at_once)),
        "ratio_in_turn": _middle_ratio(delivered, in_turn),
        "ratio_at_once": _middle_ratio(delivered, at_once),
    }


def _middle_ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    return round(median(our / their for our, their in zip(ours, theirs, strict=True)), 2)


def _one_round(merchant: Merchant, url: str, events: int) -> tuple[float, float, float]:
    """Return the seconds of the worker, and of the bare loops: in turn, and as many at once as the worker."""
    put_events(merchant, url, events, clock.now())
    requests = _requests_signed_before(events)
    return (
        _seconds_to_deliver(events),
        asyncio.run(_seconds_to_send_bare(url, requests, 1)),
        asyncio.run(_seconds_to_send_bare(url, requests, SENDS_AT_ONCE_TO_RECEIVER)),
    )


def _requests_signed_before(count: int) -> list[Signed]:
    signer = Signer(["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"], "X-Kaha")
    newest = Event.objects.order_by("-created_at")[:count]
    return [
        (signer.headers_of(public_id("evt", event.id), bytes(event.payload), clock.now()), bytes(event.payload))
        for event in newest
    ]


def _seconds_to_deliver(events: int) -> float:
    started = time.perf_counter()
    assert DeliveryLoop().run() == events
    seconds = time.perf_counter() - started
    assert not Webhook.objects.exclude(state="delivered").exists()
    return seconds


async def _seconds_to_send_bare(url: str, requests: Sequence[Signed], connections: int) -> float:
    """Send `requests` over so many `connections`, and read every answer; return the seconds."""
    left = iter(requests)
    headers = {"Content-Type": "application/json"}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), headers=headers) as session:
        started = time.perf_counter()
        await asyncio.gather(*(_send_all(session, url, left) for _ in range(connections)))
        return time.perf_counter() - started


async def _send_all(session: aiohttp.ClientSession, url: str, left: Iterator[Signed]) -> None:
    for headers, body in left:
        async with session.post(url, data=body, headers=headers) as response:
            await response.read()
