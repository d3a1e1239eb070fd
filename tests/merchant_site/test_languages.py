"""The language of the merchants' site."""

import pytest
from django.test import Client

from payments.domain.merchants.merchants import NewMerchant
from tests.client import signed_in
from tests.merchant_site.conftest import member

PREFERENCES = "/merchant/preferences/"


def language(client: Client, page: str = PREFERENCES, **named: str) -> str:
    """Return the language that a page says it has."""
    text = client.get(page, **named).content.decode()  # type: ignore[arg-type]
    return text.partition('<html lang="')[2].partition('"')[0]


@pytest.mark.parametrize(("header", "code"), [("fil-PH,en;q=0.8", "fil"), ("en-US", "en-gb"), ("de", "en-gb")])
def test_the_language_is_that_of_the_browser_until_one_is_chosen(owner: Client, header: str, code: str) -> None:
    assert language(owner, headers={"Accept-Language": header}) == code  # type: ignore[arg-type]


def test_a_chosen_language_stays_after_the_next_sign_in(owner: Client, shop: NewMerchant) -> None:
    user = member(shop.merchant, name="rosa")
    client = signed_in(user)
    answer = client.post(PREFERENCES, {"time_zone": "", "language": "fil"}, follow=True)
    assert "Na-save." in answer.content.decode()
    assert language(client) == "fil"
    again = Client()
    again.force_login(user)
    assert language(again, headers={"Accept-Language": "en"}) == "fil"  # type: ignore[arg-type]


def test_a_language_that_is_not_offered_is_refused(owner: Client) -> None:
    answer = owner.post(PREFERENCES, {"time_zone": "", "language": "de"})
    assert "not one of the available choices" in answer.content.decode()


def test_the_back_office_is_in_english(admin_client: Client) -> None:
    assert language(admin_client, "/admin/preferences/", headers={"Accept-Language": "fil"}) == "en-gb"  # type: ignore[arg-type]
