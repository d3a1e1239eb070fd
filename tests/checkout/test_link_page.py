"""The page of a link: what it shows, and where each answer leads."""

from datetime import timedelta
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from payments import clock
from payments.domain.checkout import links
from payments.domain.merchants.merchants import NewMerchant
from payments.models import Checkout, PayerMessage, PaymentLink
from tests.checkout.shelf import ITEMS, buy, left, linked, open_payment, payments_of
from tests.client import APPROVED, Api, made
from tests.pages.waiting_charges import path_of

pytestmark = pytest.mark.django_db
CARD = {"way": "card", "number": APPROVED, "expiry": "12/39", "cvc": "123", "holder": "Maria Santos", "attempt": "0"}


def text_of(client: Client, link: dict[str, Any], status: int = 200, **headers: str) -> str:
    """Return the page of a link as a browser gets it."""
    response = client.get(path_of(link["url"]), headers=headers)
    assert response.status_code == status
    return response.content.decode()


def send(client: Client, link: dict[str, Any], *quantities: object, **fields: str) -> HttpResponse:
    """Send the form with these quantities."""
    chosen = {f"quantity-{number}": str(count) for number, count in enumerate(quantities)}
    return client.post(path_of(link["url"]), {**chosen, **fields})


def test_the_page_shows_what_is_sold_and_makes_nothing(client: Client, api: Api) -> None:
    link = linked(api, description="For the beach")
    text = text_of(client, link)
    for part in ("Sari Store", "For the beach", "Halo-halo", "₱125.00", "Only 3 left", "Turon", "Only 2 left"):
        assert part in text, part
    assert "Summer menu" not in text
    assert payments_of(link) == []


def test_one_piece_of_the_first_item_that_is_left_is_chosen_first(client: Client, api: Api) -> None:
    link = linked(api)
    assert 'Total for 1 piece</span> <span class="money">₱125.00' in text_of(client, link)
    buy(link, 3, 0)
    text = text_of(client, link)
    assert 'Total for 1 piece</span> <span class="money">₱40.00' in text
    assert 'name="quantity-1" value="1"' in text


def test_a_payer_chooses_pays_and_reads_the_result(client: Client, api: Api) -> None:
    link = linked(api)
    page = path_of(send(client, link, 1, 2)["Location"])
    text = client.get(page).content.decode()
    assert "Pay ₱205.00" in text
    assert f'href="{link["url"]}"' in text
    done = path_of(client.post(page, CARD)["Location"])
    assert client.get(done)["Location"].endswith(page)
    assert "₱205.00" in client.get(page).content.decode()
    assert left(api, link) == [2, 0]


def test_after_paying_the_payer_goes_to_the_redirect_url(client: Client, api: Api) -> None:
    page = path_of(send(client, linked(api, redirect_url="https://shop.example/thanks"), 1, 0)["Location"])
    assert client.get(path_of(client.post(page, CARD)["Location"]))["Location"] == "https://shop.example/thanks"


def test_who_pays_by_a_link_is_asked_where_a_receipt_may_go(client: Client, api: Api, shop: NewMerchant) -> None:
    page = path_of(send(client, linked(api), 1, 0)["Location"])
    assert 'name="email"' not in client.get(page).content.decode()
    shop.merchant.send_receipts = True
    shop.merchant.save()
    assert "E-mail for the receipt (optional)" in client.get(page).content.decode()
    assert client.post(page, CARD | {"email": "maria@"}).status_code == 422
    client.post(page, CARD | {"email": "maria@example.com"})
    assert [each.kind for each in PayerMessage.objects.all()] == ["receipt"]


def test_where_a_receipt_may_go_need_not_be_said(client: Client, api: Api, shop: NewMerchant) -> None:
    shop.merchant.send_receipts = True
    shop.merchant.save()
    page = path_of(send(client, linked(api), 1, 0)["Location"])
    assert client.post(page, CARD)["Location"].endswith("/done")


def test_where_there_is_no_choice_one_of_each_is_bought(client: Client, api: Api) -> None:
    link = linked(api, allow_adjustable_quantity=False)
    assert "Total for 2 pieces" in text_of(client, link)
    assert "stepper" not in text_of(client, link)
    assert send(client, link, 3, 2).status_code == 303
    assert payments_of(link)[0].quantities == [1, 1]


@pytest.mark.parametrize(
    ("fields", "total"), [({"more": "0"}, "₱290.00"), ({"less": "1"}, "₱125.00"), ({"update": "1"}, "₱165.00")]
)
def test_the_buttons_change_quantity_and_total_and_open_nothing(
    client: Client, api: Api, fields: dict[str, str], total: str
) -> None:
    link = linked(api)
    assert total in send(client, link, 1, 1, **fields).content.decode()
    assert payments_of(link) == []


@pytest.mark.parametrize("quantities", [(0, 0), (), ("-1", "x"), ("1e9", "")])
def test_a_payer_who_chose_nothing_reads_so(client: Client, api: Api, quantities: tuple[object, ...]) -> None:
    link = linked(api)
    response = send(client, link, *quantities)
    assert (response.status_code, "Nothing is chosen yet" in response.content.decode()) == (422, True)
    assert payments_of(link) == []


def test_a_payer_who_wants_more_than_is_left_reads_what_is_left(client: Client, api: Api) -> None:
    link = linked(api)
    buy(link, 2, 0)
    response = send(client, link, 2, 0)
    text = response.content.decode()
    assert (response.status_code, "There are not so many left" in text, "Only 1 left" in text) == (409, True, True)
    assert 'name="quantity-0" value="1"' in text


def test_a_payer_whose_network_has_reserved_too_much_reads_what_to_do(client: Client, api: Api) -> None:
    link = linked(api, line_items=[{**ITEMS[0], "quantity": 90}])
    for _ in range(links.RESERVATIONS_MAX):
        assert send(Client(), link, 1).status_code == 303
    refused = send(client, link, 1)
    assert (refused.status_code, "Too many payments are under way" in refused.content.decode()) == (409, True)


def test_a_total_that_cannot_be_paid_is_refused(client: Client, api: Api) -> None:
    link = linked(api, line_items=[ITEMS[0], {**ITEMS[1], "amount": 0}])
    assert "This total cannot be paid" in send(client, link, 0, 1).content.decode()


def test_a_page_whose_last_pieces_are_being_bought_says_when_to_come_back(client: Client, api: Api) -> None:
    link = linked(api)
    open_payment(link, 3, 2)
    assert "The last pieces are being bought" in text_of(client, link, 409)
    assert send(client, link, 1, 0).status_code == 409
    assert len(payments_of(link)) == 1


def test_a_payer_who_goes_back_still_has_the_last_pieces(client: Client, api: Api) -> None:
    link = linked(api)
    text_of(client, link)
    page = send(client, link, 3, 2)["Location"]
    text = text_of(client, link)
    assert ("Only 3 left" in text, 'name="quantity-0" value="3"' in text) == (True, True)
    assert "The last pieces are being bought" in text_of(Client(), link, 409)
    assert send(client, link, 3, 2)["Location"] == page
    assert (left(api, link), len(payments_of(link))) == ([0, 0], 1)


def test_a_form_of_the_last_piece_that_is_sent_twice_leads_to_one_payment(client: Client, api: Api) -> None:
    link = linked(api)
    text_of(client, link)
    client.cookies.load(kept := client.cookies.output(header="", sep=";"))
    first = send(client, link, 3, 2)["Location"]
    # The second was sent before the browser had an answer.
    client.cookies.load(kept)
    assert send(client, link, 3, 2)["Location"] == first
    assert len(payments_of(link)) == 1


def test_a_payer_who_goes_back_and_chooses_otherwise_gives_the_first_choice_back(client: Client, api: Api) -> None:
    link = linked(api)
    text_of(client, link)
    first = send(client, link, 3, 0)["Location"]
    second = send(client, link, 1, 1)["Location"]
    assert first != second
    assert [payment.state for payment in payments_of(link)] == ["expired", "unpaid"]
    assert (left(api, link), made(api.get(f"/payment_links/{link['id']}"))["active"]) == ([2, 1], True)
    assert "The time to pay is over" in client.get(path_of(first)).content.decode()


def test_a_payer_who_is_at_a_bank_is_led_to_the_open_payment(client: Client, api: Api) -> None:
    link = linked(api)
    page = send(client, link, 3, 2)["Location"]
    client.post(path_of(page), {"way": "gcash", "attempt": "0"})
    for response in (client.get(path_of(link["url"])), send(client, link, 1, 0)):
        assert (response.status_code, response["Location"]) == (303, page)
    assert len(payments_of(link)) == 1


def test_a_payer_who_has_paid_buys_once_more(client: Client, api: Api) -> None:
    link = linked(api)
    first = send(client, link, 1, 0)["Location"]
    client.post(path_of(first), CARD)
    assert "Only 2 left" in text_of(client, link)
    assert send(client, link, 1, 0)["Location"] != first
    assert left(api, link) == [1, 2]


def test_a_choice_whose_time_is_over_is_given_back_before_the_worker_does(client: Client, api: Api) -> None:
    link = linked(api)
    first = send(client, link, 3, 2)["Location"]
    Checkout.objects.update(expires_at=clock.now() - timedelta(seconds=1))
    assert send(client, link, 3, 2)["Location"] != first
    assert left(api, link) == [0, 0]


def test_the_cookie_of_a_visit_is_of_one_link_and_of_us(client: Client, api: Api) -> None:
    link, other = linked(api), linked(api)
    send(client, link, 3, 2)
    kept = client.cookies["visit"]
    assert (kept["httponly"], kept["samesite"], kept["path"]) == (True, "Lax", path_of(link["url"]))
    send(client, other, 3, 2)
    assert len(payments_of(other)) == 1
    client.cookies["visit"] = f"{payments_of(other)[0].id}:forged"
    assert "The last pieces are being bought" in text_of(client, other, 409)


def test_a_page_that_is_sold_out_says_so(client: Client, api: Api) -> None:
    link = linked(api)
    buy(link, 3, 2)
    assert "Sold out" in text_of(client, link, 410)
    assert "Ubos na" in text_of(client, link, 410, **{"Accept-Language": "fil"})


def test_a_page_that_is_switched_off_or_past_its_day_says_so(client: Client, api: Api) -> None:
    link = linked(api)
    made(api.post(f"/payment_links/{link['id']}/deactivate"))
    assert "This offer is closed" in text_of(client, link, 410)
    PaymentLink.objects.update(ends_at=clock.now() - timedelta(seconds=1))
    assert "This offer has ended" in text_of(client, link, 410)


def test_a_payment_that_was_not_made_in_time_leads_back_to_the_link(client: Client, api: Api) -> None:
    link = linked(api)
    page = path_of(send(client, link, 1, 0)["Location"])
    Checkout.objects.update(expires_at=clock.now() - timedelta(seconds=1))
    text = client.get(page).content.decode()
    assert "The time to pay is over" in text
    assert f'href="{link["url"]}"' in text


def test_an_address_of_no_link_is_unknown(client: Client, db: None) -> None:
    assert client.get("/links/0123456789").status_code == 404


def test_the_page_of_a_link_is_limited_by_address(api: Api, settings: Any) -> None:
    settings.RATE_LIMIT_ANONYMOUS = "1/year"
    payer, path = Client(REMOTE_ADDR="203.0.113.11"), path_of(linked(api)["url"])
    assert [payer.get(path).status_code for _ in range(2)] == [200, 429]
