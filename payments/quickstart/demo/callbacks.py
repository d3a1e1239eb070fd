"""What became of the callbacks of a story, by the schedule on which they are tried."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from payments.models import NotificationTry, Webhook
from payments.quickstart.demo.rows import Rows, change
from payments.quickstart.demo.shop import Shop
from payments.webhooks.attempt_rules import made_of
from payments.webhooks.claims import Claimed, Made
from payments.webhooks.results import Answer, Failure, FailureKind

GONE = Answer(410, b"", 31, None)
NO_ANSWER = Failure(FailureKind.CONNECT_TIMEOUT, 3000)


def try_all(shop: Shop, rows: Rows, present: datetime) -> None:
    """Tries the webhooks among `rows` until they are over or the present comes."""
    for webhook in rows.of(Webhook):
        for number, made in enumerate(_tries(shop, webhook, present), 1):
            rows.add(_row(webhook, number, made))


def _tries(shop: Shop, webhook: Webhook, present: datetime) -> Iterator[Made]:
    while webhook.due_at and webhook.due_at < present:
        started_at = webhook.due_at
        result = _answer(shop, started_at)
        ended_at = started_at + timedelta(milliseconds=result.milliseconds)
        made = made_of(_claimed(webhook, ended_at), result, started_at, ended_at, shop.random.random())
        stands = {name: getattr(made, name) for name in ("state", "failures", "first_try_at", "due_at")}
        change(webhook, stands | {"tries": webhook.tries + 1})
        yield made


def _answer(shop: Shop, moment: datetime) -> Answer | Failure:
    if any(start <= moment < end for start, end in shop.outages):
        return NO_ANSWER
    chance, milliseconds = shop.random.random(), round(shop.random.lognormvariate(4.4, 0.6))
    if chance < 0.0002:
        return GONE
    status = 503 if chance < 0.02 else 204
    return Answer(status, b"", milliseconds, None)


def _claimed(webhook: Webhook, lease: datetime) -> Claimed:
    return Claimed(
        id=webhook.id,
        event_id=webhook.event_id,
        merchant_id=webhook.merchant_id,
        livemode=webhook.livemode,
        receiver=webhook.receiver,
        url=webhook.url,
        payload=b"",
        failures=webhook.failures,
        first_try_at=webhook.first_try_at,
        lease=lease,
    )


def _row(webhook: Webhook, number: int, made: Made) -> NotificationTry:
    said = {name: getattr(made, name) for name in ("started_at", "milliseconds", "status", "answer", "error", "reason")}
    return NotificationTry(webhook=webhook, number=number, **said)
