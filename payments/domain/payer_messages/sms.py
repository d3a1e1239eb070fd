"""SMS to payers, by a service of the installation: `SMS_URL` takes a POST of `{"to": …, "text": …}`."""

import asyncio
import json

from django.conf import settings

from payments.domain.payer_messages.content import Content, Letter
from payments.domain.payer_messages.results import NotTaken
from payments.models import PayerMessage
from payments.webhooks.transport.client import Transport
from payments.webhooks.transport.results import Answer, Failure

# From here on a status says that the service does not work (RFC 9110, 15.6).
SERVER_ERROR = 500


def send_sms(message: PayerMessage, content: Content, letter: Letter) -> None:
    """Send an SMS. Raise NotTaken: a service that did not answer may have sent it, and knows the next try by its ID."""
    result = asyncio.run(_post(message, content, letter))
    if isinstance(result, Failure):
        raise NotTaken(f"The service did not answer: {result.kind}.")
    if not result.is_proper:
        is_of_message = result.status < SERVER_ERROR
        raise NotTaken(f"The service answered {result.status}.", is_of_message)


async def _post(message: PayerMessage, content: Content, letter: Letter) -> Answer | Failure:
    body = json.dumps({"to": content.to, "text": letter.text}).encode()
    async with Transport() as transport:
        # As in live mode: https only, and no address of a private network.
        is_guarded = not settings.NOTIFY_ALLOW_LOOPBACK
        return await transport.send(settings.SMS_URL, body, {"Idempotency-Key": message.id.hex}, livemode=is_guarded)
