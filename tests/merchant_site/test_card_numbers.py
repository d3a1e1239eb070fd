"""A card number that a form refuses is not written back into the page."""

import pytest
from django.http import QueryDict
from django.test import Client

from payments.admin.framework.reason_form import TextForm
from payments.merchant_site.pages.colleagues import ColleagueForm
from tests.admin.conftest import House
from tests.client import CHALLENGED, signed_in
from tests.merchant_site.conftest import member
from tests.merchant_site.test_walls import Rows, addresses, forms_on, newest_shown, rows, shown  # noqa: F401  one of everything
from tests.undone import undone

REFUSED = "looks like it holds a card number"


@pytest.mark.parametrize("name", ["name", "email"])
def test_a_refused_card_number_is_not_shown_again(owner: Client, name: str) -> None:
    sent = {"name": "Ana Cruz", "email": "ana@shop.example", "role": "viewer", name: f"card {CHALLENGED} x"}
    text = owner.post("/merchant/payments/merchantaccess/add/", sent).content.decode()
    assert (CHALLENGED in text, REFUSED in text) == (False, True)
    assert (sent["role"] in text, "Ana Cruz" in text) == (True, name != "name")


def test_a_link_does_not_show_it_again(owner: Client) -> None:
    sent = {"internal_name": CHALLENGED, "mode": "test", "items-TOTAL_FORMS": "1", "items-INITIAL_FORMS": "0"}
    sent |= {"items-0-name": f"Item {CHALLENGED}", "items-0-amount": "100", "items-0-quantity": "1"}
    text = owner.post("/merchant/payments/paymentlink/new-link/", sent).content.decode()
    assert (CHALLENGED in text, REFUSED in text) == (False, True)


@pytest.mark.long
def test_no_form_of_the_site_shows_it_again(rows: Rows, house: House) -> None:  # noqa: F811
    client, written_back, tried = signed_in(member(house.shop.merchant)), [], 0
    pages = addresses(rows)
    for form in forms_on(client, [*pages, *(f"{page}?edit=1" for page in pages if page.endswith("/change/"))]):
        for name in (*form.typed, *form.hidden):
            with undone():
                answer, tried = form.send(client, {name: CHALLENGED}), tried + 1
            written_back += [(form.action, name)] * (CHALLENGED in shown(answer))
    assert written_back == []
    assert tried > 40


def test_the_form_that_was_sent_is_left_as_it_was() -> None:
    sent = QueryDict(f"name={CHALLENGED}&email=ana@shop.example&role=viewer")
    form: TextForm = ColleagueForm(sent)
    assert not form.is_valid()
    assert (sent["name"], form["name"].value(), form["email"].value()) == (CHALLENGED, "", "ana@shop.example")


def test_a_long_number_that_is_stored_stays_in_its_form() -> None:
    # Of a length that no card has which the API takes, so no column refuses it.
    stored = "Ward 36006666333344"
    form: TextForm = ColleagueForm(initial={"name": stored})
    assert form["name"].value() == stored
