"""Links, requests and sessions on the merchants' site: seen, made by a form, and a link as a QR code."""

from typing import Any

import pytest
import segno
from django.test import Client
from django.urls import reverse

from payments.domain.merchants.merchants import NewMerchant
from payments.models import AuditEntry, Checkout, Merchant, MerchantAccess, PayerMessage, PaymentLink
from payments.rendering.objects.payment_links import link_url
from tests.admin.actions import once
from tests.admin.conftest import text_of, words_of
from tests.checkout import cast, shelf
from tests.client import Api, signed_in
from tests.merchant_site.conftest import member

pytestmark = pytest.mark.django_db
Role = MerchantAccess.Role
FIELDS = ("name", "amount", "quantity")
URLCONF = "config.merchant_urls"
TIMES = ("created", "created_at", "updated", "updated_at", "last_updated", "expires_at")
OF_ONE = ("id", "url", "payment_url", "number", *TIMES)
MODE = {"mode": "test", "currency": "PHP", "payment_method_types": ["card", "gcash"]}


def address(name: str, *args: Any) -> str:
    return reverse(f"admin:payments_{name}", URLCONF, args)


NEW_LINK = address("paymentlink_new_link")
NEW_REQUEST = address("checkout_new_request")
NEW_SESSION = address("checkout_new_checkout")


def rows(*items: tuple[str, str, int]) -> dict[str, Any]:
    """Return the fields of items: name, price of one and quantity."""
    fields: dict[str, Any] = {"item-TOTAL_FORMS": len(items) + 1, "item-INITIAL_FORMS": 0}
    for number, item in enumerate([*items, ("", "", 1)]):
        fields |= {f"item-{number}-{name}": value for name, value in zip(FIELDS, item, strict=True)}
    return fields


def link_form(client: Client, **more: Any) -> dict[str, Any]:
    items = rows(("Halo-halo", "125.00", 3), ("Turon", "40", 2))
    return MODE | items | {"internal_name": "Summer menu", "allow_adjustable_quantity": "on", **once(client)} | more


def request_form(client: Client, **more: Any) -> dict[str, Any]:
    contact = {"customer_email": "juan@example.com", "customer_name": "Juan", "delivery_methods": ["email"]}
    return link_form(client) | contact | {"message": "Salamat!"} | more


def lasting(shown: dict[str, Any]) -> dict[str, Any]:
    """Return what two objects of the same order have in common."""
    return {name: value for name, value in shown.items() if name not in OF_ONE}


def test_a_link_made_by_the_form_is_the_link_made_by_the_api(owner: Client, api: Api) -> None:
    by_api = shelf.linked(api, expiry="12/31/2039", maximum_payments=5)
    form = link_form(owner, expiry="2039-12-31", maximum_payments="5", decision="make")
    response = owner.post(NEW_LINK, form, follow=True)
    row = PaymentLink.objects.latest("id")
    assert f'data-copy="{link_url(row)}"' in text_of(response)
    assert lasting(shelf.shown(api, {"id": str(row)})) == lasting(by_api)
    assert AuditEntry.objects.filter(action="added", object_id=str(row.pk)).count() == 1


def test_a_session_made_by_the_form_is_the_session_made_by_the_api(owner: Client, api: Api) -> None:
    page = {"success_url": "https://shop.example/thanks", "cancel_url": "https://shop.example/thanks"}
    by_api = cast.opened(api, client_reference_id="ORDER-7", **page)
    form = link_form(owner) | rows(("Halo-halo", "125", 2))
    owner.post(NEW_SESSION, form | {"success_url": page["success_url"], "client_reference_id": "ORDER-7"})
    made = cast.shown(api, {"object": "session", "id": str(Checkout.objects.latest("id"))})
    assert lasting(made) == lasting(by_api)


def test_a_request_goes_to_the_customer_with_the_address_who_is_made_once(owner: Client, api: Api) -> None:
    for _ in range(2):
        owner.post(NEW_REQUEST, request_form(owner))
    first, second = Checkout.objects.requests().order_by("id")
    assert first.customer_id == second.customer_id
    assert [each.request.place for each in (first, second)] == [1, 2]
    assert first.order["customer_name"] == "Juan"
    assert first.amount == 45_500
    assert PayerMessage.objects.filter(about_id=first.id).exists()


def test_a_form_that_is_sent_twice_makes_one(owner: Client) -> None:
    for url, form in ((NEW_LINK, link_form(owner)), (NEW_REQUEST, request_form(owner))):
        first, again = (owner.post(url, form) for _ in range(2))
        assert first.url == again.url
    assert (PaymentLink.objects.count(), Checkout.objects.count()) == (1, 1)


def test_the_checks_are_those_of_the_api_and_their_words_stand_beside_the_fields(owner: Client) -> None:
    faults = {
        "This day is over.": link_form(owner, expiry="2020-01-31"),
        "Write an amount such as 1,234.50.": link_form(owner, **rows(("Halo-halo", "much", 1))),
        "This field is required.": link_form(owner, **rows()),
        "The total must be 1 to": link_form(owner, **rows(*[("Rice", "999999999", 9)] * 2)),
        "This value must be at least 1": link_form(owner, maximum_payments="0"),
    }
    for words, form in faults.items():
        assert words in words_of(owner.post(NEW_LINK, form)), words
    assert not PaymentLink.objects.exists()


def test_a_way_to_pay_that_the_merchant_cannot_take_is_refused_in_words(owner: Client) -> None:
    response = owner.post(NEW_REQUEST, request_form(owner, mode="live"))
    assert "Card is not available to this account in this mode." in words_of(response)
    assert not Checkout.objects.exists()


def test_a_merchant_whose_keys_do_not_work_makes_nothing(owner: Client, shop: NewMerchant) -> None:
    Merchant.objects.filter(pk=shop.merchant.pk).update(status="closed")
    assert "This account is closed" in words_of(owner.post(NEW_LINK, link_form(owner)))
    assert not PaymentLink.objects.exists()


def test_the_preview_is_the_payers_page_and_makes_nothing(owner: Client, shop: NewMerchant) -> None:
    for url, form, words in (
        (NEW_LINK, link_form(owner, description="Cold and sweet."), ["Cold and sweet.", "Halo-halo", "₱125.00"]),
        (NEW_REQUEST, request_form(owner), ["Invoice", "Salamat!", "Juan", "Pay ₱455.00"]),
        (NEW_SESSION, link_form(owner, success_url="https://shop.example/"), ["Pay ₱455.00", "GCash"]),
        (NEW_LINK, {}, [shop.merchant.title, "once the form is filled in"]),
    ):
        response = owner.post(f"{url}preview/", form)
        text = words_of(response)
        assert [each for each in words if each not in text] == [], url
        assert {"sandbox", "frame-ancestors 'self'"} <= set(response["Content-Security-Policy"].split("; "))
    assert (PaymentLink.objects.count(), Checkout.objects.count()) == (0, 0)


def test_more_rows_keep_what_was_typed(owner: Client) -> None:
    form = link_form(owner, decision="more")
    text = text_of(owner.post(NEW_LINK, form))
    assert 'value="Turon"' in text
    assert 'name="item-3-name"' in text
    assert f'value="{form["row_id"]}"' in text
    assert "errorlist" not in text


@pytest.mark.parametrize("role", [Role.VIEWER, Role.DEVELOPER])
def test_other_roles_make_nothing(role: str, shop: NewMerchant) -> None:
    client = signed_in(member(shop.merchant, role))
    for url in (NEW_LINK, NEW_REQUEST, NEW_SESSION, f"{NEW_LINK}preview/"):
        assert [client.get(url).status_code, client.post(url, link_form(client)).status_code] == [403, 403], url
    assert "New payment link" not in text_of(client.get(address("paymentlink_changelist")))


def test_the_code_of_a_link_leads_to_its_page(owner: Client, api: Api) -> None:
    row = shelf.link_row(shelf.linked(api))
    poster = text_of(owner.get(address("paymentlink_qr", row.pk)))
    assert address("paymentlink_code", row.pk) in poster
    assert "Halo-halo" in poster
    svg = owner.get(address("paymentlink_code", row.pk)).content.decode()
    assert segno.make_qr(link_url(row)).svg_inline(scale=6, light="white").partition("<path")[2] in svg


def test_another_merchants_link_has_no_code(owner: Client, other_api: Api) -> None:
    row = shelf.link_row(shelf.linked(other_api))
    for name in ("change", "qr", "code"):
        assert owner.get(address(f"paymentlink_{name}", row.pk)).status_code == 404


def test_people_end_void_and_send_again_what_is_open(owner: Client, api: Api) -> None:
    session, request = cast.row_of(cast.opened(api)), cast.row_of(cast.billed(api))
    link = shelf.link_row(shelf.linked(api))
    why = {"reason": "Ordered twice."}
    assert "Send again" in text_of(owner.get(address("checkout_change", request.pk)))
    assert "What happens" in text_of(owner.get(address("checkout_resend", request.pk)))
    owner.post(address("checkout_resend", request.pk), why)
    owner.post(address("checkout_void", request.pk), why)
    owner.post(address("checkout_expire", session.pk), why)
    owner.post(address("paymentlink_deactivate", link.pk), why)
    assert list(Checkout.objects.order_by("pk").values_list("state", flat=True)) == ["expired", "voided"]
    assert not PaymentLink.objects.get().active


def test_the_pages_name_neither_the_merchant_nor_what_operators_did(owner: Client, api: Api, house: Any) -> None:
    session, link = cast.opened(api), shelf.linked(api)
    cast.pay(session)
    shelf.buy(link, 1, 1)
    text = words_of(owner.get(address("checkout_change", cast.row_of(session).pk)))
    assert "Halo-halo" in text
    assert "operator" not in text.lower()
    assert " To " not in text
    assert "₱165.00, paid" in words_of(owner.get(address("paymentlink_change", shelf.link_row(link).pk)))


def test_ways_to_pay_stand_in_groups_and_maya_once(owner: Client) -> None:
    groups = dict(owner.get(NEW_LINK).context["form"].fields["payment_method_types"].choices)
    assert [*groups] == ["Cards", "E-wallets", "Transfers and QR", "Banks"]
    assert [name for name, _ in groups["E-wallets"]][:2] == ["gcash", "maya"]
    assert "paymaya" not in dict(groups["E-wallets"])
