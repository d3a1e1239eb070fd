"""SMS and messages to the chat room: a POST to a service of the installation.

`SMS_URL` takes `{"to": …, "text": …}`, and `CHAT_WEBHOOK_URL` takes `{"text": …}`.
"""

import asyncio
import json

from django.conf import settings

from payments.domain.messages.letters import Letter, NotTaken
from payments.webhooks.transport.client import Transport
from payments.webhooks.transport.results import Answer, Failure

# From here on a status says that the service does not work (RFC 9110, 15.6).
SERVER_ERROR = 500


def send_sms(letter: Letter) -> None:
    """Send an SMS. Raise NotTaken: a service that did not answer may have sent it, and knows its key."""
    _deliver(settings.SMS_URL, {"to": letter.to, "text": letter.text}, {"Idempotency-Key": letter.key})


def send_chat(letter: Letter) -> None:
    """Write into the chat room. Raise NotTaken."""
    _deliver(settings.CHAT_WEBHOOK_URL, {"text": letter.text}, {})


def _deliver(url: str, body: dict[str, str], headers: dict[str, str]) -> None:
    result = asyncio.run(_post(url, json.dumps(body).encode(), headers))
    if isinstance(result, Failure):
        raise NotTaken(f"The service did not answer: {result.kind}.")
    if not result.is_proper:
        is_of_message = result.status < SERVER_ERROR
        raise NotTaken(f"The service answered {result.status}.", is_of_message)


async def _post(url: str, body: bytes, headers: dict[str, str]) -> Answer | Failure:
    async with Transport() as transport:
        # As in live mode: https only, and no address of a private network.
        return await transport.send(url, body, headers, livemode=not settings.NOTIFY_ALLOW_LOOPBACK)
