"""When an unknown outcome is looked up."""

from collections.abc import Mapping

from payments.domain.schedule import LOOKUP_DELAYS_SECONDS
from payments.models import Attempt
from payments.providers.base import Outcome, Payment, Unknown
from payments.providers.simulator.connector import Simulator
from tests.client import Api
from tests.domain.doubles import provider


class LosesPins(Simulator):
    """Takes the payer's PIN, and the answer never arrives."""

    def continue_payment(self, payment: Payment, params: Mapping[str, str]) -> Outcome:
        super().continue_payment(payment, params)
        return Unknown("the answer was lost")


def test_the_lookups_of_a_payers_earlier_tries_put_off_none_of_the_next(api: Api) -> None:
    charge = api.charge_source(api.wallet("bpi"))
    Attempt.objects.update(tries=len(LOOKUP_DELAYS_SECONDS))
    pin = {"confirmation_id": charge["action"]["confirmation_id"], "otp": "123456"}

    with provider(LosesPins()):
        api.post(f"/charges/{charge['id']}/verify", pin)

    attempt = Attempt.objects.get()
    assert attempt.due_at
    assert (attempt.due_at - attempt.updated_at).total_seconds() < LOOKUP_DELAYS_SECONDS[1]
