"""The decline that a provider's connector makes up for a block: it looks like the provider's own."""

import re
from dataclasses import replace

from payments.providers.base import Declined
from tests.providers.bench import Bench, Money, asked, redirected


def test_a_made_up_decline_is_the_one_that_an_issuer_s_refusal_makes(bench: Bench) -> None:
    real = bench.connector.create_payment(asked(bench, card=bench.card("card_declined")))
    made_up = bench.connector.plain_decline(asked(bench))
    assert isinstance(real, Declined)
    assert replace(made_up, provider_ref="") == replace(real, provider_ref="")
    assert form_of(made_up.provider_ref) == form_of(real.provider_ref)


def test_each_made_up_decline_has_a_reference_of_its_own(bench: Bench) -> None:
    payment = asked(bench)
    references = {bench.connector.plain_decline(payment).provider_ref for _ in range(10)}
    assert len(references) == 10


def test_no_made_up_decline_sends_the_payment_to_another_provider(bench: Bench) -> None:
    for payment in (asked(bench), redirected(bench)):
        assert not bench.connector.plain_decline(payment).retryable


def test_the_provider_gets_no_request(bench: Bench) -> None:
    payment = asked(bench)
    bench.connector.plain_decline(payment)
    assert bench.money(payment) == Money()
    assert not getattr(getattr(bench, "fake", None), "requests", [])


def form_of(reference: str) -> str:
    """Return a reference's form: one sign for each letter or digit, by its case."""
    return re.sub(r"[A-Z0-9]" if reference.isupper() else r"[0-9a-f]", "x", reference)
