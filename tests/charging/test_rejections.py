"""What a provider refuses because our request or our account is wrong: nothing was done, and no payer is to blame."""

import pytest

from payments.models import Attempt, UnknownOutcome
from payments.providers.base import NotSent, Outcome, Rejected, Unknown
from tests.charging.doubles import Double, provider
from tests.charging.elapsed_time import recover
from tests.client import ANSWER_LOST, Api, error_of, made

REJECTED = Rejected("INVALID_API_KEY", "The key 4000000000003055 is not allowed.")
# Takes nothing from this account.
REJECTS = Double(**dict.fromkeys(("create_payment", "capture", "refund", "resolve"), REJECTED))


def test_a_rejected_payment_fails_and_says_so_to_operators_without_secrets(api: Api) -> None:
    with provider(REJECTS):
        charge = api.charge()

    assert (charge["status"], charge["failure_data"]["code"]) == ("failed", "processing_error")
    attempt = Attempt.objects.get()
    assert attempt.outcome == "Rejected"
    announced = {"outcome": "Rejected", "code": "INVALID_API_KEY", "message": "The key [redacted] is not allowed."}
    assert attempt.response == announced


def test_a_rejected_operation_is_refused_and_the_charge_stays_as_it_was(api: Api) -> None:
    charge = api.held()
    with provider(REJECTS):
        refused = api.post(f"/charges/{charge['id']}/capture")

    assert (refused.status_code, error_of(refused)["code"]) == (409, "charge_not_capturable")
    assert api.read(charge) == charge


def test_a_rejected_refund_fails_and_gives_its_amount_back(api: Api) -> None:
    charge = api.charge()
    with provider(REJECTS):
        after = made(api.post(f"/charges/{charge['id']}/refund"))

    assert (after["refunds"][0]["status"], after["amount_refunded"]) == ("failed", 0)


def test_a_rejected_lookup_decides_nothing_and_waits_for_operators(api: Api) -> None:
    charge = api.charge(ANSWER_LOST)
    with provider(REJECTS):
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
    with provider(Double(continue_payment=outcome)):
        assert made(api.post(path, pin)) == charge

    assert made(api.post(path, pin))["status"] == "succeeded"
