"""Events delivered per second by one worker process, beside the same client library in a bare loop."""

import asyncio
import time
from statistics import median

import aiohttp

from config.celery import spare_what_stays
from payments import clock
from payments.models import Notification
from payments.notifications.delivery import Drain
from payments.notifications.sending import SENDS_AT_ONCE_TO_RECEIVER
from payments.notifications.signing import Signer
from tests.figures.making import PAYLOAD_BYTES, new_merchant, put_events
from tests.figures.receiver import receiver_process


def throughput(events: int, rounds: int) -> dict[str, float]:
    """Delivers `events` and sends as many bare ones in turn, `rounds` times.

    The worker claims, signs, sends to a receiver in a process of its own, and puts down each try. Both run as in a
    worker that is ready, where the garbage collector spares what is there from the start. The rates are of the best
    rounds; the ratio is the middle one of all rounds, for both halves of a round had much the same machine.
    """
    spare_what_stays()
    merchant = new_merchant()
    delivered, bare = [], []
    with receiver_process() as url:
        for _ in range(rounds):
            put_events(merchant, url, events, clock.now())
            delivered.append(events / _seconds_to_deliver(events))
            bare.append(events / asyncio.run(_seconds_to_send_bare(url, events)))
    return {
        "events": events,
        "delivered_per_second": round(max(delivered)),
        "bare_per_second": round(max(bare)),
        "ratio": round(median(ours / theirs for ours, theirs in zip(delivered, bare, strict=True)), 2),
    }


def _seconds_to_deliver(events: int) -> float:
    started = time.perf_counter()
    assert Drain().run() == events
    seconds = time.perf_counter() - started
    assert not Notification.objects.exclude(state="delivered").exists()
    return seconds


async def _seconds_to_send_bare(url: str, events: int) -> float:
    """As many bytes over as many connections, and every answer read."""
    body = b"x" * PAYLOAD_BYTES
    signer = Signer(["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"], "X-Kaha")
    signed = signer.headers_of(f"evt_{'0' * 32}", body, clock.now())
    headers = {**signed, "Content-Type": "application/json"}
    left = iter(range(events))

    async def send(session: aiohttp.ClientSession) -> None:
        for _ in left:
            async with session.post(url, data=body, headers=headers) as response:
                await response.read()

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        started = time.perf_counter()
        await asyncio.gather(*(send(session) for _ in range(SENDS_AT_ONCE_TO_RECEIVER)))
        return time.perf_counter() - started
