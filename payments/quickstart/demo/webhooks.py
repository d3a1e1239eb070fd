"""The attempts to send the events of a shop, with made-up answers of its receiver."""

from datetime import datetime, timedelta

from django.db import connection

from payments.models import Webhook
from payments.quickstart.demo.shops import Shop
from payments.webhooks.attempt_rules import finished_attempt
from payments.webhooks.claims import RECORD, Claimed, FinishedAttempt
from payments.webhooks.transport.results import Answer, Failure, FailureKind

GONE = Answer(410, b"", 31, None)
NO_ANSWER = Failure(FailureKind.CONNECT_TIMEOUT, 3000)


def attempt_all(shop: Shop, present: datetime) -> None:
    """Make all attempts that were due before `present`, by the worker's rules and statement."""
    waiting = Webhook.objects.of(shop.merchant.id, livemode=False).filter(due_at__lt=present)
    while waiting.update(leased_until=present):
        made = [_attempt(shop, row, lease=present) for row in waiting.all()]
        with connection.cursor() as cursor:
            cursor.execute(RECORD, [list(column) for column in zip(*made, strict=True)])


def _attempt(shop: Shop, row: Webhook, lease: datetime) -> FinishedAttempt:
    assert row.due_at  # nosec B101 # for the type checker
    claimed = Claimed(
        id=row.id,
        event_id=row.event_id,
        merchant_id=row.merchant_id,
        livemode=row.livemode,
        receiver=row.receiver,
        url=row.url,
        payload=b"",
        failures=row.failures,
        first_try_at=row.first_try_at,
        lease=lease,
    )
    result = _answer(shop, row.due_at)
    ended_at = row.due_at + timedelta(milliseconds=result.milliseconds)
    return finished_attempt(claimed, result, row.due_at, ended_at, shop.random.random())


def _answer(shop: Shop, moment: datetime) -> Answer | Failure:
    if any(start <= moment < end for start, end in shop.outages):
        return NO_ANSWER
    chance, milliseconds = shop.random.random(), round(shop.random.lognormvariate(4.4, 0.6))
    if chance < 0.0002:
        return GONE
    return Answer(503 if chance < 0.02 else 204, b"", milliseconds, None)
