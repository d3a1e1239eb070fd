"""No page of either site has an ID in its title, a chip or the question of a form."""

import re

import pytest
from django.db.models import Model
from django.test import Client

from payments.domain.merchants.merchants import NewMerchant
from tests.admin.forms import addresses_below
from tests.admin.test_pages import newest as newest_shown  # noqa: F401  one of everything
from tests.client import signed_in
from tests.merchant_site.conftest import member
from tests.merchant_site.test_walls import Rows, addresses, rows, shown  # noqa: F401

pytestmark = pytest.mark.long

AN_ID = re.compile(r"\b[a-z]{2,8}_[0-9a-f]{4,}|[0-9a-f]{4}…[0-9a-f]{4}|[0-9a-f]{32}")
# A title, a state, the label of a field, and what a chosen filter says.
NAMES = r'<(?:title|h1|h2|label|span class="chip)\b[^>]*>(.*?)</(?:title|h1|h2|label|span)>'
SAID = re.compile(rf"{NAMES}|: <strong>(.*?)</strong> <span class=\"remove", re.DOTALL)
OF_OTHERS = re.compile(r'<span class="id".*?</span>|<code>.*?</code>', re.DOTALL)


def said_with_ids(page: str) -> list[str]:
    """Return what a page says with an ID where it should say it in words."""
    texts = map("".join, SAID.findall(OF_OTHERS.sub("", page)))
    return [text.strip() for text in texts if AN_ID.search(re.sub(r"<[^>]+>", " ", text))]


def test_no_title_of_the_merchants_site_has_an_id(rows: Rows, shop: NewMerchant) -> None:  # noqa: F811
    client = signed_in(member(shop.merchant))
    found = {address: said_with_ids(shown(client.get(address))) for address in addresses(rows)}
    assert {address: texts for address, texts in found.items() if texts} == {}


def test_no_title_of_the_back_office_has_an_id(
    newest_shown: dict[type[Model], Model],  # noqa: F811
    admin_client: Client,
) -> None:
    every = sorted(set(addresses_below("/admin/", newest_shown, "config.urls")))
    # Of a payment that nobody knows, the provider's reference is all there is.
    asked = [each for each in every if "logout" not in each and not each.endswith(("/delete/", "/close/"))]
    found = {address: said_with_ids(shown(admin_client.get(address))) for address in asked}
    assert {address: texts for address, texts in found.items() if texts} == {}
