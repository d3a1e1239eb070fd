"""A form is acted on for the merchant whose site was open as it was shown, and for no other."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from payments.domain.merchants.merchants import NewMerchant
from payments.merchant_site.form_owner import NAME
from payments.models import ApprovalLimit, MerchantAccess
from tests.admin.conftest import House
from tests.admin.test_pages import newest as newest_shown  # noqa: F401  one of everything
from tests.merchant_site.conftest import Role, member
from tests.merchant_site.test_walls import Rows, addresses, forms_on, rows  # noqa: F401
from tests.staff.test_limits import everything

LIMIT = {"currency": "PHP", "amount": "100.00"}
OF_PERSONS = (
    *("/merchant/preferences/", "/merchant/confirm/", "/merchant/password_change/"),
    *("/merchant/enrol/", "/merchant/recovery-codes/"),
)
ADD_LIMIT = "/merchant/payments/approvallimit/add/"


@pytest.fixture
def both(shop: NewMerchant, other_shop: NewMerchant) -> User:
    """Return an owner of two merchants."""
    user = member(shop.merchant, name="both")
    MerchantAccess.objects.create(user=user, merchant=other_shop.merchant, role=Role.OWNER)
    return user


def opened(user: User, merchant: Any) -> Client:
    """Return a browser that has the site of this merchant open, with the fields of each form as given."""
    client = Client()
    client.force_login(user)
    client.post("/merchant/switch/", {"merchant": merchant.pk.hex})
    return client


def own_limits() -> list[ApprovalLimit]:
    """Return the limits that merchants have set for themselves."""
    return list(ApprovalLimit.objects.exclude(merchant=None))


def test_a_form_of_another_merchant_is_refused_in_words(both: User, shop: NewMerchant, other_shop: NewMerchant) -> None:
    client = opened(both, other_shop.merchant)
    answer = client.post(ADD_LIMIT, LIMIT | {NAME: shop.merchant.pk.hex})
    assert answer.status_code == 409
    text = answer.content.decode()
    assert f"This form is of {shop.merchant}, but {other_shop.merchant} is open now" in text
    assert not own_limits()
    client.post(ADD_LIMIT, LIMIT | {NAME: other_shop.merchant.pk.hex})
    assert [limit.merchant for limit in own_limits()] == [other_shop.merchant]


@pytest.mark.parametrize("named", [{}, {NAME: ""}, {NAME: "0" * 32}])
def test_a_form_that_names_no_merchant_of_the_sender_is_refused(
    both: User, shop: NewMerchant, named: dict[str, str]
) -> None:
    answer = opened(both, shop.merchant).post(ADD_LIMIT, LIMIT | named)
    assert (answer.status_code, "does not say for whom" in answer.content.decode()) == (409, True)
    assert not own_limits()


def test_a_form_of_a_merchant_that_has_ended_the_access_is_refused(both: User, shop: NewMerchant) -> None:
    client = opened(both, shop.merchant)
    MerchantAccess.objects.filter(merchant=shop.merchant).delete()
    assert client.post(ADD_LIMIT, LIMIT | {NAME: shop.merchant.pk.hex}).status_code == 409


@pytest.mark.long
def test_every_form_of_the_site_says_whose_it_is_and_acts_for_no_other(
    rows: Rows,  # noqa: F811
    house: House,
    other_shop: NewMerchant,
) -> None:
    user = member(house.shop.merchant, name="both")
    MerchantAccess.objects.create(user=user, merchant=other_shop.merchant, role=Role.OWNER)
    client = opened(user, house.shop.merchant)
    # A preview is a page of payers, and can send nothing.
    pages = [page for page in addresses(rows) if not page.endswith("/preview/")]
    edited = [f"{page}?edit=1" for page in pages if page.endswith("/change/")]
    found = list(forms_on(client, [*pages, *edited]))
    assert len(found) > 40
    assert [form.action for form in found if form.values.get(NAME) != house.shop.merchant.pk.hex] == []
    client.post("/merchant/switch/", {"merchant": other_shop.merchant.pk.hex})
    before = everything()
    answers = [(form.action, form.send(client, {})) for form in found]
    acted = {action: answer.status_code for action, answer in answers if answer.status_code not in (404, 409)}
    # They are the person's own.
    assert {action: status for action, status in acted.items() if not action.startswith(OF_PERSONS)} == {}
    assert everything() == before


@pytest.mark.long
def test_a_form_with_a_file_says_whose_it_is(
    rows: Rows,  # noqa: F811
    house: House,
    other_shop: NewMerchant,
) -> None:
    user = member(house.shop.merchant, name="both")
    MerchantAccess.objects.create(user=user, merchant=other_shop.merchant, role=Role.OWNER)
    [address] = [address for address in addresses(rows) if address.endswith("/add-evidence/")]
    sent = {"kind": "other", "file": SimpleUploadedFile("a.txt", b"x"), NAME: other_shop.merchant.pk.hex}
    client = opened(user, house.shop.merchant)
    assert client.post(address, sent).status_code == 409
    own = {NAME: house.shop.merchant.pk.hex, "file": SimpleUploadedFile("a.txt", b"x")}
    assert client.post(address, sent | own).status_code == 200
