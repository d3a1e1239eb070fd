"""Every address of the site, with every object of a merchant: nobody of another merchant opens one, in any role.

The walk is made from the resolver, with each wall taken away: the other one holds by itself. Then both hold together,
for each only takes rows away.
"""

from collections.abc import Iterable, Iterator, Mapping
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
from tests.admin.crawl import ELSEWHERE, found_from, openable
from tests.admin.forms import Form, addresses_below, forms_of
from tests.admin.test_pages import newest as newest_shown  # noqa: F401  one of everything
from tests.client import Api, made, signed_in
from tests.factories import schedule_files
from tests.merchant_site.conftest import Role, member
from tests.staff.test_limits import everything, marks_of
from tests.undone import undone

pytestmark = pytest.mark.long

PREFIX, URLCONF = "/merchant/", "config.merchant_urls"
NEVER_ASKED = ("/merchant/logout/", "/merchant/login/", "/merchant/switch/")
# What the framework gives to each list.
READS_NO_QUERY = ("/add/", "/saveview/", "/dropview/")
Rows = Mapping[type[Model], Model]


@pytest.fixture
def rows(newest_shown: dict[type[Model], Model], house: House) -> Rows:  # noqa: F811
    """Return a row of the shop for each page of the site."""
    schedule_files(member(house.shop.merchant, name="somebody"), house.shop.merchant)
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
    for ask in (client.get, client.options, client.post):
        with undone():
            yield ask(address)


def shown(answer: Any) -> str:
    return b"".join(answer).decode(errors="replace")


def without_first_wall() -> Any:
    """Have every page forget whose rows it shows."""
    return patch("payments.admin.framework.base.within", lambda *_: Q())


def without_second_wall() -> Any:
    return patch("payments.merchant_site.site.rows_of", lambda _: nullcontext())


either_wall_falls = pytest.mark.parametrize("fallen", [without_first_wall, without_second_wall])


@either_wall_falls
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


@either_wall_falls
def test_no_list_and_no_search_shows_another_merchant(
    fallen: Any, rows: Rows, house: House, other_shop: NewMerchant
) -> None:
    client = signed_in(member(other_shop.merchant))
    leaks, named = [], of_rows(rows)
    with fallen():
        for address in addresses(rows):
            queries = ("?mode=live", "?q=Halo-halo", f"?q={house.charge['id']}")
            asked = [(client.get, query) for query in queries if not address.endswith(READS_NO_QUERY)]
            for ask, query in [(client.get, ""), (client.options, ""), *asked]:
                if address not in named:
                    text = shown(ask(f"{address}{query}"))
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


def rows_of_merchant(merchant: Any) -> dict[type[Model], list[Any]]:
    """Return the rows of a merchant that have pages, with their values."""
    lookups = {model: page.merchant_lookup for model, page in merchant_site._registry.items()}
    return {
        model: list(model._default_manager.filter(**{lookup: merchant.pk}).order_by("pk").values())
        for model, lookup in lookups.items()
    }


def fields_that_name_rows(form: Form) -> list[str]:
    """Return the fields that nobody types into, what is chosen and what is hidden, but choices among words alone."""
    chosen = [name for name in form.values if name not in form.typed and name not in ("row_id", "decision", "action")]
    return [name for name in chosen if not _is_among_words("".join(form.offered.get(name, ())))]


def _is_among_words(offered: str) -> bool:
    # Each key and each ID has digits.
    return offered != "" and not any(map(str.isdigit, offered))


def forms_on(client: Client, pages: Iterable[str]) -> Iterator[Form]:
    """Yield each form of the pages that sends something, but for those on every page."""
    seen = set[str]()
    for address in pages:
        answer = client.get(address)
        if answer.status_code == 200 and answer["Content-Type"].startswith("text/html"):
            for form in forms_of(address, shown(answer)):
                if form.method == "post" and form.action not in seen and not form.action.startswith(NEVER_ASKED):
                    seen.add(form.action)
                    yield form


def test_no_field_of_a_form_takes_a_row_of_another_merchant(rows: Rows, house: House, other_shop: NewMerchant) -> None:
    theirs = Api(other_shop.keys["sk_test"])
    customer = made(theirs.post("/customers/", {"email": "pia@example.com", "description": "Pia Reyes"}))
    charge = theirs.charge(description="Leche flan")
    member(other_shop.merchant, name="pia")
    before = rows_of_merchant(other_shop.merchant)
    keys = {str(found[-1]["id"]) for found in before.values() if found and "id" in found[-1]}
    marks = [customer["id"], "Leche flan", "pia@example.com", "Other Store"]
    client, leaks, tried = signed_in(member(house.shop.merchant)), [], 0
    for form in forms_on(client, addresses(rows)):
        with undone():
            for field in fields_that_name_rows(form):
                for name in (*sorted(keys), customer["id"], charge["id"]):
                    text, tried = shown(form.send(client, {field: name})), tried + 1
                    # A page may say what was sent to it.
                    leaks += [(form.action, field, mark) for mark in marks if mark in text and mark != name]
            if rows_of_merchant(other_shop.merchant) != before:
                leaks.append((form.action, "", "changed"))
    assert leaks == []
    assert tried > len(keys)


@pytest.mark.parametrize("role", Role.values)
def test_every_page_that_a_role_may_open_is_found_by_links(role: str, rows: Rows, house: House) -> None:
    client = signed_in(member(house.shop.merchant, role))
    # An action is offered where it fits its row.
    actions = {address for address in of_rows(rows) if not address.endswith("/change/")}
    may_open = openable(client, set(addresses(rows)) - actions, URLCONF)
    assert len(may_open) > 15
    assert may_open - found_from(client, PREFIX, URLCONF) - ELSEWHERE == set()


def test_settings_lead_to_colleagues_and_limits(house: House) -> None:
    client = signed_in(member(house.shop.merchant))
    page = client.get(f"{PREFIX}payments/merchant/", follow=True).content.decode()
    for name in ("merchantaccess", "approvallimit"):
        assert f'href="{PREFIX}payments/{name}/"' in page
    assert f'<a class="back" href="{PREFIX}payments/merchant/">' not in page
