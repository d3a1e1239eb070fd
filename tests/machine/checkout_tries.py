"""What a worker, a shop and time do to a request that collects itself, in the histories of checkouts."""

from contextlib import nullcontext
from datetime import timedelta
from typing import Any

from django.db.models import F

from payments import clock
from payments.domain.checkout import collect
from payments.models import Checkout, PaymentRequest
from payments.providers.base import ActionRequired, Declined
from payments.providers.failures.retry import Retry
from tests.charging.doubles import LOST, UNSENT, Double, lost, provider
from tests.machine.checkout_money import Act

DAY = timedelta(days=1)


def collect_again(history: Any, sale: Any) -> None:
    """Let the days pass until the next try of a request, which may be lost, be refused or want the payer."""
    waiting = PaymentRequest.objects.filter(checkout_id=sale.id, collect_at__isnull=False)
    waiting.update(
        collect_at=clock.now(), collect_from=F("collect_from") - timedelta(days=history.random.choice([1, 3]))
    )
    answers = [None, lost, LOST, UNSENT, ActionRequired("sp_1", "https://bank.example/"), *map(_declined, Retry)]
    answer = history.random.choice(answers)
    history.note(answer)
    with provider(Double(create_payment=answer)) if answer else nullcontext():
        collect.collect_due()


def _declined(retry: Retry) -> Declined:
    return Declined("card_declined", retry=retry, retry_after_hours=24 * (retry == Retry.LATER))


def end_tries(history: Any, sale: Any) -> None:
    """Stop the tries of a request, or begin them again."""
    if sale.row.kind == Checkout.Kind.REQUEST:
        verb = history.random.choice(["collect", "stop_collecting"])
        answer = history.api.post(f"/payment_requests/{sale.name}/{verb}")
        history.note(verb, answer.status_code)
        assert answer.status_code in (200, 400, 409), answer.content


TRIES: tuple[Act, ...] = (collect_again, collect_again, end_tries)
