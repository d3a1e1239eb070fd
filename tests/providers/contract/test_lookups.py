"""Payments whose payer must act at the provider: the same at every provider."""

from payments.providers.base import ActionRequired, Approved, Declined
from tests.providers.bench import AMOUNT, Bench, Money, asked, begun, noticed, operated, operation, redirected, settled


def test_a_payer_is_sent_to_the_provider_and_nothing_is_taken_yet(bench: Bench) -> None:
    payment = redirected(bench)
    outcome = bench.connector.create_payment(payment)
    assert isinstance(outcome, ActionRequired)
    assert outcome.url
    assert bench.money(payment) == Money()


def test_a_card_that_is_to_be_authenticated_sends_its_payer_to_the_issuer(bench: Bench) -> None:
    payment = begun(bench, asked(bench, card=bench.card(challenged=True), authenticate=True))
    params = bench.pay(payment)
    assert isinstance(settled(bench, payment, bench.connector.continue_payment(payment, params)), Approved)
    assert bench.money(payment) == Money(taken=AMOUNT)


def test_a_payer_who_fails_at_the_issuer_is_declined(bench: Bench) -> None:
    payment = begun(bench, asked(bench, card=bench.card(challenged=True), authenticate=True))
    params = bench.refuse(payment)
    assert isinstance(settled(bench, payment, bench.connector.continue_payment(payment, params)), Declined)
    assert bench.money(payment) == Money()


def test_a_payer_who_paid_and_came_back_has_paid(bench: Bench) -> None:
    payment = begun(bench, redirected(bench))
    params = bench.pay(payment)
    outcome = settled(bench, payment, bench.connector.continue_payment(payment, params))
    assert isinstance(outcome, Approved)
    assert outcome.captured
    assert bench.money(payment) == Money(taken=AMOUNT)


def test_a_payer_who_refused_and_came_back_has_cancelled(bench: Bench) -> None:
    payment = begun(bench, redirected(bench))
    params = bench.refuse(payment)
    outcome = settled(bench, payment, bench.connector.continue_payment(payment, params))
    assert isinstance(outcome, Declined)
    assert outcome.code == "payer_cancelled"


def test_the_provider_reports_a_payer_who_paid_and_never_came_back(bench: Bench) -> None:
    payment = begun(bench, redirected(bench))
    bench.pay(payment)
    bench.let_pass()
    outcome = noticed(bench, payment)
    assert isinstance(outcome, Approved)
    assert outcome.captured


def test_the_provider_reports_a_payer_who_never_came(bench: Bench) -> None:
    payment = begun(bench, redirected(bench))
    bench.run_out(payment)
    bench.let_pass()
    outcome = noticed(bench, payment)
    assert isinstance(outcome, Declined)
    assert outcome.code == "action_expired"


def test_what_nobody_paid_yet_can_be_ended(bench: Bench) -> None:
    payment = begun(bench, redirected(bench))
    assert isinstance(operated(bench, operation("cancel", payment)), Approved)
    assert bench.money(payment) == Money()


def test_what_is_paid_already_is_not_ended(bench: Bench) -> None:
    """A provider that cannot refuse at once reports the money afterwards, and kaha gives it back."""
    payment = begun(bench, redirected(bench))
    bench.pay(payment)
    outcome = bench.connector.cancel(operation("cancel", payment))
    bench.let_pass()
    assert isinstance(outcome, Declined) or isinstance(noticed(bench, payment), Approved)
    assert bench.money(payment) == Money(taken=AMOUNT)
