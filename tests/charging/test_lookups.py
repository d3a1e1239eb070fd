"""When an unknown outcome is looked up, and what a process gets that was overtaken by it."""

import pytest

from payments.domain.due_rows import LOOKUP_DELAYS_SECONDS
from payments.models import Attempt
from payments.providers.base import Outcome
from tests.charging.doubles import Do, Double, lost, provider
from tests.charging.elapsed_time import recover
from tests.client import CHALLENGED, Api


def test_the_lookups_of_a_payers_earlier_tries_put_off_none_of_the_next(api: Api) -> None:
    charge = api.charge_source(api.wallet("bpi"))
    Attempt.objects.update(tries=len(LOOKUP_DELAYS_SECONDS))
    pin = {"confirmation_id": charge["action"]["confirmation_id"], "otp": "123456"}

    with provider(Double(continue_payment=lost)):
        api.post(f"/charges/{charge['id']}/verify", pin)

    attempt = Attempt.objects.get()
    assert attempt.due_at
    assert (attempt.due_at - attempt.updated_at).total_seconds() < LOOKUP_DELAYS_SECONDS[1]


@pytest.mark.django_db(transaction=True)
def test_a_process_that_was_overtaken_answers_with_the_bytes_that_its_key_has_already(api: Api) -> None:
    body = {"amount": 100, "currency": "PHP", "source": api.source(CHALLENGED), "description": "Slow"}

    def be_overtaken(do: Do, asked: object) -> Outcome:
        outcome = do()
        recover()
        return outcome

    with provider(Double(create_payment=be_overtaken)):
        slow = api.post("/charges/", body, key="slow")

    again = api.post("/charges/", body, key="slow")
    assert (slow.status_code, slow.content) == (again.status_code, again.content)
