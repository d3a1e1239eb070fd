"""Why Adyen refused a payment, in the contract's words."""

import pytest

from payments.providers.adyen.declines import FRAUD, GENERIC, REFUSALS, AdyenRefusal, declined, declined_by_words
from payments.providers.base import Declined
from payments.providers.failure_data import REASONS

PLAIN = [refusal for refusal in REFUSALS if refusal.number not in FRAUD]
SUSPECTED = [refusal for refusal in REFUSALS if refusal.number in FRAUD]


@pytest.mark.parametrize("refusal", PLAIN, ids=lambda refusal: refusal.number)
def test_a_refusal_has_a_code_of_the_contract_and_adyens_own(refusal: AdyenRefusal) -> None:
    outcome = declined("Refused", refusal.number, "PSP1", "pass")
    assert outcome.code in REASONS
    assert (outcome.provider_code, outcome.message) == (refusal.number, refusal.words)
    assert (outcome.provider_ref, outcome.cvc_checked) == ("PSP1", "pass")


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: refusal.number)
def test_an_answer_and_a_webhook_say_the_same(refusal: AdyenRefusal) -> None:
    answer = declined("Refused", refusal.number, "PSP1", "pass")
    assert declined_by_words(refusal.words.upper(), "PSP1", "pass") == answer


@pytest.mark.parametrize("refusal", SUSPECTED, ids=lambda refusal: refusal.number)
def test_nobody_learns_that_they_were_suspected(refusal: AdyenRefusal) -> None:
    assert declined("Refused", refusal.number, "", "unchecked") == declined("Refused", GENERIC.number, "", "unchecked")


def test_another_provider_may_be_asked_only_where_the_acquirer_or_issuer_was_at_fault() -> None:
    retryable = {each.number for each in REFUSALS if declined("Error", each.number, "", "").retryable}
    assert retryable == {"4", "9"}


@pytest.mark.parametrize(
    ("result", "code"), [("Refused", "card_declined"), ("Cancelled", "payer_cancelled"), ("Error", "processing_error")]
)
def test_a_refusal_without_a_number_we_know_is_reported_by_its_result(result: str, code: str) -> None:
    assert declined(result, "", "PSP1", "unchecked") == Declined(code, "PSP1", result, result)
    assert declined(result, "999", "PSP1", "unchecked") == Declined(code, "PSP1", "999", result)


def test_words_that_we_do_not_know_are_an_ordinary_refusal() -> None:
    assert declined_by_words("Fraud of a new kind", "PSP1", "unchecked").message == GENERIC.words
