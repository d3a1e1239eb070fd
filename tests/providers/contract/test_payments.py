"""Payments that are taken or held without their payer: the same at every provider."""

from dataclasses import replace

import pytest

from payments.providers.base import ActionRequired, Approved, Declined, OnFile
from tests.providers.bench import AMOUNT, Bench, Money, asked, settled, taken

DECLINES = ("card_declined", "insufficient_funds", "expired_card", "incorrect_cvc", "processing_error")


def test_a_payment_is_taken_at_once(bench: Bench) -> None:
    payment = asked(bench)
    outcome = settled(bench, payment, bench.connector.create_payment(payment))
    assert isinstance(outcome, Approved)
    assert outcome.captured
    assert outcome.provider_ref
    assert bench.money(payment) == Money(taken=AMOUNT)


def test_a_payment_is_held(bench: Bench) -> None:
    payment = asked(bench, capture=False)
    outcome = settled(bench, payment, bench.connector.create_payment(payment))
    assert isinstance(outcome, Approved)
    assert not outcome.captured
    assert bench.money(payment) == Money(held=AMOUNT)


@pytest.mark.parametrize("code", DECLINES)
def test_a_decline_has_the_contracts_code_and_the_providers_own(bench: Bench, code: str) -> None:
    payment = asked(bench, card=bench.card(declined=code))
    outcome = settled(bench, payment, bench.connector.create_payment(payment))
    assert isinstance(outcome, Declined)
    assert outcome.code == code
    assert outcome.provider_code
    assert bench.money(payment) == Money()


def test_a_payment_by_a_vaulted_card_asks_nobody(bench: Bench) -> None:
    card = bench.card(challenged=True)
    kept = {"on_file": OnFile.KEPT, "payer_absent": True, "network_reference": "MCC1234560321"}
    payment = asked(bench, card=replace(card, cvc=None), authenticate=False, **kept)
    assert isinstance(settled(bench, payment, bench.connector.create_payment(payment)), Approved)


def test_a_payer_who_is_there_may_be_asked_for_a_vaulted_card_too(bench: Bench) -> None:
    card = bench.card(challenged=True)
    payment = asked(bench, card=replace(card, cvc=None), authenticate=True, on_file=OnFile.KEPT)
    outcome = bench.connector.create_payment(payment)
    assert isinstance(outcome, ActionRequired)


def test_the_same_question_asked_twice_is_one_payment(bench: Bench) -> None:
    payment = asked(bench)
    bench.connector.create_payment(payment)
    outcome = settled(bench, payment, bench.connector.create_payment(payment))
    assert isinstance(outcome, Approved)
    assert bench.money(payment) == Money(taken=AMOUNT)


def test_a_payment_that_was_taken_is_known_when_asked_for(bench: Bench) -> None:
    payment = taken(bench)
    outcome = settled(bench, payment, bench.connector.resolve(payment))
    assert isinstance(outcome, Approved)
    assert outcome.captured


def test_a_payment_of_another_size_than_it_takes_is_outside_its_limits(bench: Bench) -> None:
    capabilities = bench.connector.capabilities("card")
    assert capabilities is not None
    assert capabilities.takes(AMOUNT, "PHP")
    assert capabilities.amounts is None or not capabilities.takes(1, "PHP")


def test_a_source_type_that_nobody_has_is_not_taken(bench: Bench) -> None:
    assert bench.connector.capabilities("cowries") is None
