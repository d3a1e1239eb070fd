"""What a provider says of a card fills in what the BIN table does not know, and nothing else."""

from dataclasses import replace
from typing import Any

import pytest

from payments.models import BinRange
from payments.providers.base import CardFacts
from tests.charging.doubles import Do, Double, provider
from tests.client import APPROVED, CHALLENGED, DECLINED, Api

pytestmark = pytest.mark.django_db

SAID = CardFacts("Bank of Manila", "PH", "debit")


def says(do: Do, asked: object) -> Any:
    return replace(do(), card=SAID)


def facts_of(charge: dict[str, Any]) -> tuple[str, str, str]:
    card = charge["source"]["card"]
    return card["issuing_bank"], card["country"], card["funding"]


def charged(api: Api, number: str) -> dict[str, Any]:
    """Return the charge of a card of which the provider says SAID."""
    with provider(Double(create_payment=says)):
        return api.charge(number)


@pytest.mark.parametrize("number", [APPROVED, DECLINED])
def test_what_the_bin_table_knows_stands(api: Api, number: str) -> None:
    assert facts_of(charged(api, number)) == ("Test Bank", "US", "credit")


@pytest.mark.parametrize("number", [APPROVED, DECLINED])
def test_what_the_bin_table_does_not_know_is_what_the_provider_says(api: Api, number: str) -> None:
    BinRange.objects.create(prefix=number[:11], brand="visa", funding="unknown", country="US")
    charge = charged(api, number)
    assert facts_of(charge) == ("Bank of Manila", "US", "debit")
    assert facts_of(api.read(charge)) == facts_of(charge)


def test_a_providers_text_with_a_card_number_is_kept_without_it() -> None:
    assert CHALLENGED not in CardFacts(f"Bank {CHALLENGED}").issuing_bank
