"""Payment links in the back office: the list, the page, and the actions activate and deactivate."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from payments.models import AuditEntry, PaymentLink
from payments.search.sweep import rebuild
from tests.admin.conftest import client_of, text_of, words_of
from tests.admin.test_pages import list_of, page_of
from tests.checkout.shelf import buy, link_row, linked, open_payment, payments_of, shown
from tests.client import Api

pytestmark = [pytest.mark.django_db, pytest.mark.long]


@pytest.fixture
def operator(db: None) -> Client:
    """Return a client with a signed-in superuser."""
    return client_of("operator")


def act(client: Client, link: dict[str, Any], name: str, **form: str) -> Any:
    return client.post(reverse(f"admin:payments_paymentlink_{name}", args=[link_row(link).pk]), form, follow=True)


def test_the_page_of_a_link_shows_stock_and_payments(api: Api, operator: Client) -> None:
    link = linked(api)
    buy(link, 1, 0)
    open_payment(link, 0, 1)
    text = words_of(operator.get(page_of(link_row(link))))
    for part in ("Summer menu", "Halo-halo: ₱125.00, 2 left", "₱125.00, paid", "₱40.00, unpaid", link["url"]):
        assert part in text.replace("\xa0", " "), part
    assert "ch_" in text


@pytest.mark.parametrize("of", ["id", "name", "payment", "charge"])
def test_a_link_is_found_by_what_an_operator_has_of_it(api: Api, operator: Client, of: str) -> None:
    link, other = linked(api), linked(api, internal_name="Winter menu")
    buy(link, 1, 0)
    (payment,) = payments_of(link)
    charge = str(payment.charges.get())
    term = {"id": link["id"], "name": "Summer menu", "payment": str(payment), "charge": charge}[of]
    rebuild()
    text = text_of(operator.get(list_of(PaymentLink), {"mode": "test", "q": term}))
    assert (page_of(link_row(link)) in text, page_of(link_row(other)) in text) == (True, False)


def test_an_operator_switches_a_link_off_and_on_with_an_entry_each(api: Api, operator: Client) -> None:
    link = linked(api)
    for name, is_active in (("deactivate", False), ("activate", True)):
        act(operator, link, name, reason="The shop asked for it.")
        assert shown(api, link)["active"] is is_active
    entries = AuditEntry.objects.filter(object_name=link["id"], action="changed")
    assert [(entry.fields, entry.reason) for entry in entries] == [(["active"], "The shop asked for it.")] * 2


def test_a_link_that_is_over_is_not_switched_on_by_an_operator(api: Api, operator: Client) -> None:
    link = linked(api)
    buy(link, 3, 2)
    assert "sold out, at its maximum" in text_of(act(operator, link, "activate", reason="The shop asked for it."))
    assert not shown(api, link)["active"]


def test_a_viewer_switches_nothing(api: Api) -> None:
    link, viewer = linked(api), client_of("viewer", "view_paymentlink")
    assert act(viewer, link, "deactivate", reason="x").status_code == 403
