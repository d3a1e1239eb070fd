"""A test event that an operator sends to a merchant's receiver, once."""

from collections.abc import Sequence
from uuid import UUID

from django.conf import settings

from payments import context
from payments.concurrency.connections import release_connection
from payments.concurrency.fair_queue import Slots
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.merchants.merchants import valid_webhook_secrets
from payments.domain.webhooks import receiver_check
from payments.models import Merchant
from payments.webhooks.transport.results import Answer, Failure
from payments.webhooks.transport.urls import check_notify_url

# A receiver may take all of its ten seconds of a thread: one for a merchant, and a quarter of the threads for all.
UNDER_WAY = Slots(1, settings.WEB_THREADS // 4)


class NotSent(Exception):
    """Nothing was sent; the message says why."""


def send_test_event(merchant: Merchant, url: str, livemode: bool) -> Answer | Failure:
    """Send a signed event about a charge that does not exist to `url`; return what came of it.

    Raise ForbiddenUrl, and NotSent where the merchant has no secret, or another test event is under way.
    """
    check_notify_url(url, livemode)
    secrets = valid_webhook_secrets(merchant, livemode)
    if not secrets:
        raise NotSent("The merchant has no webhook secret in this mode. Roll it first.")
    result = send(merchant.id, url, livemode, secrets)
    mode = "live" if livemode else "test"
    audit_log.record(Action.TESTED, merchant, detail=f"a test event of {mode} mode: {result_text(result)}")
    return result


def send(merchant_id: UUID, url: str, livemode: bool, secrets: Sequence[str]) -> Answer | Failure:
    """Send the event, signed with `secrets`, and return what came of it. Raise NotSent."""
    with UNDER_WAY.slot(merchant_id, _under_way):
        release_connection()
        context.begin_wait()
        return receiver_check.send_one(url, livemode, secrets).result


def _under_way() -> NotSent:
    return NotSent("Another test event is under way. Try again in some seconds.")


def result_text(result: Answer | Failure) -> str:
    """Return what the receiver did, in a few words."""
    return f"answered {result.status}" if isinstance(result, Answer) else f"did not answer: {result.kind}"
