"""A card number that a form refuses is not written back into the page."""

import pytest
from django.http import QueryDict
from django.test import Client

from payments.admin.framework.reason_form import TextForm
from payments.merchant_site.pages.colleagues import ColleagueForm
from tests.client import CHALLENGED

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


def test_the_form_that_was_sent_is_left_as_it_was() -> None:
    sent = QueryDict(f"name={CHALLENGED}&email=ana@shop.example&role=viewer")
    form: TextForm = ColleagueForm(sent)
    assert not form.is_valid()
    assert (sent["name"], form["name"].value(), form["email"].value()) == (CHALLENGED, "", "ana@shop.example")
