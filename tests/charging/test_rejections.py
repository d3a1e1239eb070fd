"""What a provider refuses because our request or our account is wrong: nothing was done, and no payer is to blame."""

from collections.abc import Mapping

import pytest

from payments.models import Attempt, UnknownOutcome
from payments.providers.base import NotSent, Operation, Outcome, Payment, Rejected, Unknown
from payments.providers.simulator.connector import Simulator
from tests.charging.doubles import provider
from tests.charging.elapsed_time import recover
from tests.client import ANSWER_LOST, Api, error_of, made

REJECTED = Rejected("INVALID_API_KEY", "The key 4000000000003055 is not allowed.")


class Rejects(Simulator):
    """Takes nothing from this account."""

    def create_payment(self, payment: Payment) -> Outcome:
        return REJECTED

    def capture(self, operation: Operation) -> Outcome:
        return REJECTED

    def refund(self, operation: Operation) -> Outcome:
        return REJECTED

    def resolve(self, asked: Payment | Operation) -> Outcome:
        return REJECTED


class Continues(Simulator):
    """Answers to a payer's return with what it was made with."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome

    def continue_payment(self, payment: Payment, params: Mapping[str, str]) -> Outcome:
        return self.outcome


def test_a_rejected_payment_fails_and_says_so_to_operators_without_secrets(api: Api) -> None:
    with provider(Rejects()):
        charge = api.charge()

    assert (charge["status"], charge["failure_data"]["code"]) == ("failed", "processing_error")
    attempt = Attempt.objects.get()
    assert attempt.outcome == "Rejected"
    announced = {"outcome": "Rejected", "code": "INVALID_API_KEY", "message": "The key [redacted] is not allowed."}
    assert attempt.response == announced


def test_a_rejected_operation_is_refused_and_the_charge_stays_as_it_was(api: Api) -> None:
    charge = api.held()
    with provider(Rejects()):
        refused = api.post(f"/charges/{charge['id']}/capture")

    assert (refused.status_code, error_of(refused)["code"]) == (409, "charge_not_capturable")
    assert api.read(charge) == charge


def test_a_rejected_refund_fails_and_gives_its_amount_back(api: Api) -> None:
    charge = api.charge()
    with provider(Rejects()):
        after = made(api.post(f"/charges/{charge['id']}/refund"))

    assert (after["refunds"][0]["status"], after["amount_refunded"]) == ("failed", 0)


def test_a_rejected_lookup_decides_nothing_and_waits_for_operators(api: Api) -> None:
    charge = api.charge(ANSWER_LOST)
    with provider(Rejects()):
        recover()

    assert api.read(charge)["status"] == "pending"
    assert "INVALID_API_KEY" in UnknownOutcome.objects.get().response["why"]
    recover()
    assert api.read(charge)["status"] == "succeeded"


CARD_FIELDS = [REJECTED, NotSent("too many requests"), Unknown("timed out")]


@pytest.mark.parametrize("outcome", CARD_FIELDS, ids=["rejected", "unsent", "lost"])
def test_a_payer_whose_return_shows_nothing_may_come_back_again(api: Api, outcome: Outcome) -> None:
    charge = api.charge_source(api.wallet("bpi"))
    pin = {"confirmation_id": charge["action"]["confirmation_id"], "otp": "123456"}
    path = f"/charges/{charge['id']}/verify"
    with provider(Continues(outcome)):
        assert made(api.post(path, pin)) == charge

    assert made(api.post(path, pin))["status"] == "succeeded"
