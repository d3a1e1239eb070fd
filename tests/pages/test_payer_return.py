"""The payer's way back through our address to the merchant's."""

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from payments.models import Charge
from payments.providers.simulator.models import SimulatedPayment
from payments.sourcetypes import BY_NAME
from tests.client import Api
from tests.pages.waiting_charges import SHOP, awaited, page_of, path_of

pytestmark = pytest.mark.django_db


def walk(client: Client, charge: dict[str, Any], decision: str) -> tuple[str, HttpResponse]:
    """Decides on the page; the path of the way back and what it answers."""
    back = path_of(client.post(page_of(charge), {"decision": decision})["Location"])
    return back, client.get(back)


def back_of(charge: dict[str, Any]) -> str:
    """Return the path of a charge's way back before anything was decided."""
    return path_of(SimulatedPayment.objects.get().return_url)


@pytest.mark.parametrize("kind", ["card", "gcash"])
@pytest.mark.parametrize(("decision", "end", "status"), [("pay", "success", "succeeded"), ("cancel", "fail", "failed")])
def test_the_payer_ends_at_exactly_the_merchants_address(
    client: Client, api: Api, kind: str, decision: str, end: str, status: str
) -> None:
    charge = awaited(api, kind)
    _, response = walk(client, charge, decision)
    assert (response.status_code, response["Location"]) == (303, SHOP[end])
    assert api.read(charge)["status"] == status


@pytest.mark.parametrize("decision", ["pay", "cancel"])
def test_the_charges_own_address_stands_in_for_both(client: Client, api: Api, decision: str) -> None:
    charge = awaited(api, redirect=None, redirect_url="https://shop.example/back?x=1")
    assert walk(client, charge, decision)[1]["Location"] == "https://shop.example/back?x=1"


def test_coming_back_again_changes_nothing(client: Client, api: Api) -> None:
    charge = awaited(api)
    back, first = walk(client, charge, "pay")
    known = api.read(charge)
    assert [client.get(back)["Location"] for _ in range(2)] == [first["Location"]] * 2
    assert api.read(charge) == known


@pytest.mark.parametrize("bank", ["bdo", "rcbc"])
def test_the_result_of_a_debit_shows_the_last_characters_of_its_account(client: Client, api: Api, bank: str) -> None:
    charge = awaited(api, bank, redirect=None)
    _, response = walk(client, charge, "pay")
    account = api.read(charge)["source"]["bank_account"]
    assert f"{BY_NAME[bank].label} ••{account['account_number'][-4:]}" in response.content.decode()


@pytest.mark.parametrize(
    ("decision", "text"), [("pay", "your payment went through"), ("fail", "could not confirm that it was you")]
)
def test_without_an_address_the_payer_sees_the_result(client: Client, api: Api, decision: str, text: str) -> None:
    _, response = walk(client, awaited(api, "card", redirect=None, amount=123_450), decision)
    assert response.status_code == 200
    for part in (text, "₱1,234.50", "Test mode"):
        assert part in response.content.decode()


def test_a_result_in_live_mode_is_not_called_a_test(client: Client, api: Api) -> None:
    back, _ = walk(client, awaited(api, redirect=None), "pay")
    Charge.objects.update(livemode=True)
    assert "Test mode" not in client.get(back).content.decode()


def test_who_comes_back_undecided_waits_and_is_shown_the_way(client: Client, api: Api) -> None:
    charge = awaited(api)
    response = client.get(back_of(charge))
    assert response.status_code == 200
    assert response["Refresh"] == "3"
    assert charge["action"]["url"] in response.content.decode()


def test_the_waiting_page_moves_on_once_the_outcome_is_known(client: Client, api: Api) -> None:
    charge = awaited(api)
    back = back_of(charge)
    client.get(back)
    client.post(page_of(charge), {"decision": "pay"})
    assert client.get(back)["Location"] == SHOP["success"]


def test_a_payment_that_was_voided_since_counts_as_made(client: Client, api: Api) -> None:
    charge = awaited(api, "card", capture=False)
    back, _ = walk(client, charge, "pay")
    api.post(f"/charges/{charge['id']}/void")
    assert client.get(back)["Location"] == SHOP["success"]


def test_a_hold_that_was_released_is_not_called_reserved(client: Client, api: Api) -> None:
    charge = awaited(api, "card", redirect=None, capture=False)
    back, _ = walk(client, charge, "pay")
    assert "the amount is reserved" in client.get(back).content.decode()
    api.post(f"/charges/{charge['id']}/void")
    assert "The amount is not reserved any more" in client.get(back).content.decode()


@pytest.mark.parametrize("token", ["nothing", "0" * 64, "é" * 40])
def test_an_unknown_way_back_is_a_friendly_404(client: Client, token: str) -> None:
    response = client.get(f"/return/{token}")
    assert response.status_code == 404
    assert "There is no payment at this address" in response.content.decode()


def test_the_way_back_is_locked_down(client: Client, api: Api) -> None:
    _, response = walk(client, awaited(api), "pay")
    assert response["Referrer-Policy"] == "no-referrer"
    assert response["Cache-Control"] == "no-store"
    assert "default-src 'none'" in response["Content-Security-Policy"]
