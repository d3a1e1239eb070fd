"""Lists by the number of a page."""

import json
from typing import Any

import pytest
from django.test import RequestFactory

from payments.api.access import product_paths
from payments.api.views.numbered_pages import NumberedPageQuery, show_numbered_page
from payments.domain.merchants.merchants import NewMerchant
from payments.models import Checkout
from tests.checkout.cast import opened
from tests.client import Api

pytestmark = pytest.mark.django_db
PATH = "/links/api/v1/links"


def page(shop: NewMerchant, host: str = "", path: str = PATH, **query: Any) -> dict[str, Any]:
    """Return a page of the shop's checkouts, as a request for `path` on `host` gets it."""
    environ: dict[str, Any] = {"REQUEST_METHOD": "GET", "PATH_INFO": path, "HTTP_HOST": host}
    product_paths.lead(environ)
    rows = {"merchant_id": shop.merchant.id, "livemode": False, "kind": "session"}
    checked = NumberedPageQuery().run_validation({name: str(value) for name, value in query.items()})
    request: Any = RequestFactory().get(environ["PATH_INFO"], **environ)
    answer = show_numbered_page(request, Checkout.objects.whole(), rows, checked | {"status": "open"}, str)
    return dict(json.loads(answer.content))


def test_a_page_has_the_newest_first_and_the_addresses_of_its_neighbours(
    api: Api, shop: NewMerchant, settings: Any
) -> None:
    ids = [opened(api)["id"] for _ in range(5)][::-1]
    pages = [page(shop, page=number, limit=2) for number in (1, 2, 3, 4)]
    assert [found["data"] for found in pages] == [ids[:2], ids[2:4], ids[4:], []]
    assert [(found["total"], found["count"]) for found in pages] == [(5, 2), (5, 2), (5, 1), (5, 0)]
    whole = f"{settings.PUBLIC_URL}{PATH}?page={{}}&limit=2&status=open"
    assert [found["next"] for found in pages] == [whole.format(2), whole.format(3), None, None]
    assert [found["previous"] for found in pages] == [None, *(whole.format(number) for number in (1, 2, 3))]


def test_the_addresses_have_the_host_by_which_the_request_came(api: Api, shop: NewMerchant, settings: Any) -> None:
    settings.LINKS_HOST = "links.kaha.example"
    opened(api)
    opened(api)
    found = page(shop, "links.kaha.example", "/api/v1/links", limit=1)
    assert found["next"] == "https://links.kaha.example/api/v1/links?page=2&limit=1&status=open"


def test_a_list_ends_at_ten_thousand(api: Api, shop: NewMerchant) -> None:
    opened(api)
    assert page(shop, page=10_000, limit=100)["data"] == []
