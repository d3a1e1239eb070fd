"""No page of the site leads anybody where their role may not go."""

import re
from html import unescape

import pytest
from django.test import Client

from payments.merchant_site.site import merchant_site
from payments.models import Charge
from tests.admin.conftest import House
from tests.client import signed_in
from tests.disputes.stories import make_dispute
from tests.merchant_site.conftest import Role, member

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
