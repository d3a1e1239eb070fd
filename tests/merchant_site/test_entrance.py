"""Who is let in at the merchants' site, and that no page of it leads anybody where their role may not go."""

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client

from payments.domain.merchants.merchants import NewMerchant
from payments.merchant_site.site import merchant_site
from payments.models import Charge, MerchantAccess
from tests.admin.conftest import House, text_of
from tests.client import signed_in
from tests.disputes.stories import make_dispute
from tests.merchant_site.conftest import Role, member

HOME = "/merchant/"


def is_in(client: Client, address: str = HOME) -> bool:
    answer = client.get(address)
    assert answer.status_code in (200, 302)
    return bool(answer.status_code == 200)


@pytest.mark.long
@pytest.mark.parametrize("role", Role.values)
def test_everybody_with_a_role_is_let_in(shop: NewMerchant, role: str) -> None:
    client = signed_in(member(shop.merchant, role))
    assert shop.merchant.title in text_of(client.get(HOME))


def test_a_merchants_people_are_not_let_into_the_back_office(owner: Client) -> None:
    assert not is_in(owner, "/admin/")
    assert not is_in(owner, "/admin/payments/charge/")


def test_an_operator_is_not_let_in(shop: NewMerchant) -> None:
    olive = User.objects.create(username="olive", is_staff=True, is_superuser=True)
    MerchantAccess.objects.create(user=olive, merchant=shop.merchant, role=Role.OWNER)
    assert not is_in(signed_in(olive))


def test_somebody_who_was_an_operators_access_has_no_role(shop: NewMerchant) -> None:
    carlo = User.objects.create(username="carlo")
    MerchantAccess.objects.create(user=carlo, merchant=shop.merchant)
    assert not is_in(signed_in(carlo))


def test_who_is_not_signed_in_is_asked_to(db: None) -> None:
    answer = Client().get("/merchant/payments/charge/")
    assert (answer.status_code, answer.url) == (302, "/merchant/login/?next=/merchant/payments/charge/")


def test_an_access_that_has_ended_lets_nobody_in_at_the_next_request(owner: Client) -> None:
    assert is_in(owner)
    MerchantAccess.objects.all().delete()
    assert not is_in(owner)


def test_a_deactivated_account_is_let_in_no_more(owner: Client) -> None:
    User.objects.update(is_active=False)
    assert not is_in(owner)


def test_without_a_second_factor_nobody_is_let_in(owner: Client, settings: object) -> None:
    settings.ADMIN_MFA = True  # type: ignore[attr-defined]
    assert not is_in(owner)


def test_somebody_of_two_merchants_sees_one_at_a_time(shop: NewMerchant, other_shop: NewMerchant) -> None:
    user = member(shop.merchant, Role.VIEWER, "carla")
    MerchantAccess.objects.create(user=user, merchant=other_shop.merchant, role=Role.OWNER)
    client = signed_in(user)
    first, second = sorted((shop.merchant, other_shop.merchant), key=lambda merchant: merchant.title)
    assert client.get(HOME).context["merchant"] == first
    client.post("/merchant/switch/", {"merchant": second.pk.hex})
    assert client.get(HOME).context["merchant"] == second


def test_nobody_switches_to_a_merchant_that_is_not_theirs(owner: Client, other_shop: NewMerchant) -> None:
    assert owner.post("/merchant/switch/", {"merchant": other_shop.merchant.pk.hex}).status_code == 404


def test_a_role_is_that_at_the_merchant_whose_site_is_open(shop: NewMerchant, other_shop: NewMerchant) -> None:
    user = member(shop.merchant, Role.VIEWER, "carla")
    MerchantAccess.objects.create(user=user, merchant=other_shop.merchant, role=Role.OWNER)
    client = signed_in(user)
    may = {}
    for each in (shop.merchant, other_shop.merchant):
        client.post("/merchant/switch/", {"merchant": each.pk.hex})
        may[each] = client.get(HOME).wsgi_request.user.has_perm("payments.refund_charge")
    assert may == {shop.merchant: False, other_shop.merchant: True}


def test_on_a_host_of_its_own_nothing_else_is_there(owner: Client, settings: object) -> None:
    settings.ALLOWED_HOSTS, settings.MERCHANT_HOST = ["shops.example", "pay.example"], "shops.example"  # type: ignore[attr-defined]
    statuses = {
        (host, path): owner.get(path, headers={"Host": host}).status_code
        for host in ("shops.example", "pay.example")
        for path in (HOME, "/ping", "/admin/login/")
    }
    assert statuses == {
        ("shops.example", HOME): 200,
        ("shops.example", "/ping"): 404,
        ("shops.example", "/admin/login/"): 404,
        ("pay.example", HOME): 404,
        ("pay.example", "/ping"): 200,
        ("pay.example", "/admin/login/"): 200,
    }


LINK = re.compile(r'href="(/merchant/[^"#]*)"')


def refused_on_a_walk(client: Client) -> dict[str, int]:
    """Follow every link from the first page on; return the addresses that are not answered with a page."""
    asked, waiting, refused = set[str](), {"/merchant/"}, {}
    while waiting:
        address = waiting.pop()
        asked.add(address)
        answer = client.get(address)
        if answer.status_code == 200:
            waiting |= set(map(unescape, LINK.findall(answer.content.decode()))) - asked
        elif answer.status_code != 302:
            refused[address] = answer.status_code
    return refused


@pytest.mark.long
@pytest.mark.parametrize("role", Role.values)
def test_every_link_leads_to_a_page(role: str, house: House) -> None:
    make_dispute(Charge.objects.get())
    assert refused_on_a_walk(signed_in(member(house.shop.merchant, role))) == {}


def test_no_file_names_the_merchant(owner: Client) -> None:
    heads = {page.opts.model_name: set(page.cells_of_file()) for page in merchant_site.pages()}
    assert {name for name, each in heads.items() if each & {"merchant", "merchant_title"}} == set()


def test_the_page_of_an_error_leads_to_the_sign_in_of_this_site(owner: Client) -> None:
    answer = owner.get("/merchant/nothing/", headers={"accept": "text/html"})
    assert 'href="/merchant/">Sign in' in answer.content.decode()
