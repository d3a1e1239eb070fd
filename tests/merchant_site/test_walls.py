"""Every address of the site, with every object of a merchant: nobody of another merchant opens one, in any role.

The walk is made from the resolver. It is made again with each wall taken away: the other one holds by itself.
"""

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from typing import Any
from unittest.mock import patch

import pytest
from django.db.models import Model, Q
from django.test import Client

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.merchant_site.site import merchant_site
from payments.models import ApiRequest, ApprovalLimit, MerchantAccess
from tests.admin.conftest import House
from tests.admin.forms import addresses_below
from tests.admin.test_pages import newest as newest_shown  # noqa: F401  one of everything
from tests.client import signed_in
from tests.merchant_site.conftest import Role, member
from tests.staff.test_limits import everything, marks_of
from tests.undone import undone

pytestmark = pytest.mark.long

PREFIX, URLCONF = "/merchant/", "config.merchant_urls"
NEVER_ASKED = ("/merchant/logout/", "/merchant/login/", "/merchant/switch/")
Rows = Mapping[type[Model], Model]


@pytest.fixture
def rows(newest_shown: dict[type[Model], Model], house: House) -> Rows:  # noqa: F811
    """Return a row of the shop for each page of the site."""
    member(house.shop.merchant, name="somebody")
    key = house.shop.merchant.keys.get(kind="secret", livemode=False)
    asked = {"method": "GET", "path": "/v2/charges", "status": 200, "milliseconds": 7, "created_at": clock.now()}
    ApiRequest.objects.create(request_id=key.pk, merchant=key.merchant, api_key=key, livemode=False, **asked)
    ApprovalLimit.objects.create(merchant=house.shop.merchant, currency="PHP", amount=100)
    of_shop = {model: merchant_site._registry[model].merchant_lookup for model in merchant_site._registry}
    return newest_shown | {
        model: model._default_manager.filter(**{lookup: house.shop.merchant.pk}).latest("pk")
        for model, lookup in of_shop.items()
    }


def addresses(rows: Rows) -> list[str]:
    found = sorted(set(addresses_below(PREFIX, rows, URLCONF)))
    return [address for address in found if not address.startswith(NEVER_ASKED)]


def of_rows(rows: Rows) -> list[str]:
    """Return the addresses that name a row."""
    found = [
        f"{PREFIX}{model._meta.label_lower.replace('.', '/')}/{rows[model].pk}/" for model in merchant_site._registry
    ]
    return [address for address in addresses(rows) if address.startswith(tuple(found))]


def answers(client: Client, address: str) -> Iterator[Any]:
    for ask in (client.get, client.post):
        with undone():
            yield ask(address)


def shown(answer: Any) -> str:
    return b"".join(answer).decode(errors="replace")


def without_first_wall() -> Any:
    """Have every page forget whose rows it shows."""
    return patch("payments.admin.framework.base.within", lambda *_: Q())


def without_second_wall() -> Any:
    return patch("payments.merchant_site.site.rows_of", lambda _: nullcontext())


@pytest.mark.parametrize("fallen", [nullcontext, without_first_wall, without_second_wall])
def test_no_row_of_another_merchant_is_opened_or_acted_on(
    fallen: Any, rows: Rows, house: House, other_shop: NewMerchant
) -> None:
    client = signed_in(member(other_shop.merchant))
    before, leaks, named = everything(), [], of_rows(rows)
    assert len(named) > 2 * len(merchant_site._registry)
    with fallen():
        for address in named:
            for answer in answers(client, address):
                if answer.status_code not in (403, 404) or any(mark in shown(answer) for mark in marks_of(house)):
                    leaks.append((address, answer.wsgi_request.method, answer.status_code))
    assert leaks == []
    assert everything() == before


@pytest.mark.parametrize("fallen", [nullcontext, without_first_wall, without_second_wall])
def test_no_list_and_no_search_shows_another_merchant(
    fallen: Any, rows: Rows, house: House, other_shop: NewMerchant
) -> None:
    client = signed_in(member(other_shop.merchant))
    leaks, named = [], of_rows(rows)
    with fallen():
        for address in addresses(rows):
            for query in ("", "?mode=test", "?mode=live", "?q=Halo-halo", f"?q={house.charge['id']}"):
                if address not in named:
                    text = shown(client.get(f"{address}{query}"))
                    # The page says what was looked for.
                    marks = [mark for mark in marks_of(house) if mark not in query]
                    leaks += [(address, query, mark) for mark in marks if mark in text]
    assert leaks == []


@pytest.mark.parametrize("role", Role.values)
def test_no_role_is_answered_500(role: str, rows: Rows, house: House) -> None:
    client = signed_in(member(house.shop.merchant, role))
    client.raise_request_exception = False
    faults = [
        (address, answer.wsgi_request.method)
        for address in addresses(rows)
        for answer in answers(client, address)
        if answer.status_code >= 500
    ]
    assert faults == []


def test_a_merchant_that_is_not_open_is_another_one(rows: Rows, house: House, other_shop: NewMerchant) -> None:
    user = member(other_shop.merchant, name="both")
    MerchantAccess.objects.create(user=user, merchant=house.shop.merchant, role=Role.OWNER)
    client = signed_in(user)
    client.post("/merchant/switch/", {"merchant": other_shop.merchant.pk.hex})
    assert {client.get(address).status_code for address in of_rows(rows)} <= {403, 404}
