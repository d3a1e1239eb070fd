"""A blocked card's charge cannot be distinguished from one that its issuer declined."""

import re
from typing import Any

import pytest
from django.test import Client

from payments.domain.charging.attempts import return_url
from payments.models import Attempt
from tests.client import APPROVED, CHALLENGED, DECLINED, Api, made
from tests.pages.waiting_charges import SHOP, path_of
from tests.risk.factories import block_card

DIGITS = re.compile(r"[0-9a-f]{8,}")
CLOCK_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
# What each source, charge and event has of its own.
OWN = ("id", "last4", "fingerprint", "created")


def form_of(answer: Any) -> Any:
    """Return an answer without IDs, references, times and the card's own digits."""
    if isinstance(answer, dict):
        return {name: "own" if name in OWN else form_of(value) for name, value in answer.items()}
    if isinstance(answer, list):
        return [form_of(value) for value in answer]
    return CLOCK_TIME.sub("time", DIGITS.sub("x", answer)) if isinstance(answer, str) else answer


def events_of(api: Api, charge: dict[str, Any]) -> Any:
    return form_of(made(api.get("/events/", object=charge["id"]))["data"])


@pytest.mark.long
@pytest.mark.parametrize("number", [APPROVED, CHALLENGED])
@pytest.mark.parametrize("members", [{}, {"require_auth": False}, {"capture": False}, {"cvc": "123"}], ids=str)
def test_the_answer_is_that_of_a_decline_in_every_member(api: Api, number: str, members: dict[str, Any]) -> None:
    declined = api.charge(DECLINED, **members)
    block_card(number)
    assert form_of(api.charge(number, **members)) == form_of(declined)


def test_the_reference_looks_like_the_providers(api: Api) -> None:
    declined = api.charge(DECLINED)
    block_card()
    blocked = api.charge()
    references = [charge["failure_data"]["provider_response"]["logref"] for charge in (declined, blocked)]
    assert [re.sub("[0-9a-f]", "x", reference) for reference in references] == [f"sp_{'x' * 32}"] * 2
    assert references[0][3:11] == references[1][3:11]
    assert references[0] != references[1]


def test_reading_and_listing_show_no_more(api: Api) -> None:
    declined = api.charge(DECLINED)
    block_card()
    blocked = api.charge()
    assert form_of(api.read(blocked)) == form_of(api.read(declined))
    newest, oldest = made(api.get("/charges/"))["data"]
    assert form_of(newest) == form_of(oldest)


def test_the_events_are_the_same(api: Api) -> None:
    declined = api.charge(DECLINED)
    block_card()
    assert events_of(api, api.charge()) == events_of(api, declined)


def test_the_payer_sees_the_same_page(api: Api) -> None:
    pages = []
    for number in (DECLINED, APPROVED):
        if number == APPROVED:
            block_card()
        charge = api.charge_source(api.source(number, redirect=SHOP))
        attempt = Attempt.objects.get(charge_id=charge["id"].removeprefix("ch_"))
        response = Client().get(path_of(return_url(attempt)))
        pages.append((response.status_code, response.get("Location"), form_of(response.content.decode())))
    assert pages[0] == pages[1]
