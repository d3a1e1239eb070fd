"""Whether a merchant's receiver does with events what it must: six calls that show it from outside.

They are signed and sent by the same code as real ones, but are of test mode and about charges that do not exist.
Nothing is stored.
"""

import asyncio
import secrets as randomness
from base64 import b64encode
from collections.abc import Generator, Sequence
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from django.conf import settings

from payments import clock, ids
from payments.domain.catalogue.event_types import CHARGE_CREATED, CHARGE_SUCCEEDED, EVENT_TYPES
from payments.domain.shared import events
from payments.domain.shared.caller import Caller
from payments.models import Event
from payments.webhooks.signatures import Signer
from payments.webhooks.transport.client import Transport
from payments.webhooks.transport.results import Answer, Failure

# Twice what Standard Webhooks' libraries tolerate.
TOO_OLD = timedelta(minutes=10)
MARKED = {"description": "Not a charge: sent to test your receiver", "metadata": {"sent_by": "check_receiver"}}


@dataclass(frozen=True, slots=True)
class TrialCall:
    """One event on its way: a sound receiver answers 2xx where `to_be_taken`, else refuses it."""

    name: str
    to_be_taken: bool
    event: Event
    secrets: Sequence[str] = field(repr=False)
    age: timedelta = timedelta()


@dataclass(frozen=True, slots=True)
class TrialFinding:
    """What the receiver did with one call."""

    call: TrialCall
    result: Answer | Failure

    @property
    def is_proper(self) -> bool:
        return isinstance(self.result, Answer) and self.result.is_proper == self.call.to_be_taken


def check(url: str, livemode: bool, secrets: Sequence[str]) -> Generator[TrialFinding]:
    """Call `url` six times in a row, as a webhook of `livemode` is sent, signed with `secrets`."""
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        transport = runner.run(stack.enter_async_context(Transport()))
        try:
            for call in calls(secrets):
                yield TrialFinding(call, runner.run(_send(transport, call, url, livemode)))
        finally:
            runner.run(stack.aclose())


def send_one(url: str, livemode: bool, secrets: Sequence[str]) -> TrialFinding:
    """Send `url` the valid event alone."""
    with closing(check(url, livemode, secrets)) as findings:
        return next(findings)


def calls(secrets: Sequence[str]) -> list[TrialCall]:
    """Return a valid event and the same again, two in the wrong order, a forged one and an old one."""
    first, second, third, fourth = (ids.new_id() for _ in range(4))
    valid = _event(first, 1)
    other_secret = f"whsec_{b64encode(randomness.token_bytes(32)).decode()}"
    return [
        TrialCall("a valid event", True, valid, secrets),
        TrialCall("the same event again", True, valid, secrets),
        TrialCall("an event of another charge, its second", True, _event(second, 2), secrets),
        TrialCall("the first event of that charge, late", True, _event(second, 1), secrets),
        TrialCall("a forged event, signed with another secret", False, _event(third, 1), [other_secret]),
        TrialCall("an old event, signed 10 minutes ago", False, _event(fourth, 1), secrets, TOO_OLD),
    ]


async def _send(transport: Transport, call: TrialCall, url: str, livemode: bool) -> Answer | Failure:
    body, event_id = bytes(call.event.payload), ids.public_id("evt", call.event.id)
    signer = Signer(call.secrets, settings.NOTIFY_HEADER_PREFIX)
    headers = signer.headers_of(event_id, body, clock.now() - call.age)
    return await transport.send(url, body, headers, livemode)


def _event(charge_id: UUID, sequence: int) -> Event:
    """`charge.created` as the first event of a charge on a test card, `charge.succeeded` as its second."""
    event_type = CHARGE_SUCCEEDED if sequence > 1 else CHARGE_CREATED
    shown = EVENT_TYPES[event_type].example | {"id": ids.public_id("ch", charge_id), "livemode": False} | MARKED
    return events.new_event(Caller(ids.new_id(), livemode=False), event_type, charge_id, sequence, shown)
