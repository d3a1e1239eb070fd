"""Keyset pages: every row is on one page, in both directions."""

import html
import re
from collections.abc import Iterator
from datetime import timedelta
from html.parser import HTMLParser
from typing import Any

import pytest
from django.contrib import admin
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from payments import clock
from payments.admin.framework.index_scan import SEARCHED_ROWS
from payments.models import Charge, Merchant
from payments.search.sweep import rebuild
from tests.admin.conftest import House, text_of
from tests.admin.test_pages import list_of
from tests.contract.lists.many_charges import sell
from tests.factories import ChargeFactory, MerchantFactory
from tests.plans import scans_of, use_indexes

pytestmark = pytest.mark.long

LENGTH = 10


@pytest.fixture(autouse=True)
def _pages_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a page take few rows: most of a long one is the writing of rows."""
    monkeypatch.setattr(admin.site._registry[Charge], "list_per_page", LENGTH)


class Pages(HTMLParser):
    """Where the links below a list lead, by what they read."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: dict[str, str] = {}
        self.address = ""
        self.feed(text[text.index('aria-label="Pages"') :])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.address = dict(attrs).get("href") or "" if tag == "a" else ""

    def handle_data(self, data: str) -> None:
        if self.address:
            self.links.setdefault(data, self.address)
            self.address = ""


def shown_on(text: str) -> list[str]:
    """Return the charges of a page, in its order."""
    return re.findall(r'href="/admin/payments/charge/([0-9a-f-]{36})/change/', text)


def walk(operator: Client, address: str, link: str) -> Iterator[list[str]]:
    """Return the pages from `address` on, following `link` to its end."""
    while address:
        text = text_of(operator.get(list_of(Charge) + address))
        yield shown_on(text)
        address = Pages(text).links.get(link, "")


def newest_first(**conditions: Any) -> list[str]:
    return [str(pk) for pk in Charge.objects.filter(**conditions).order_by("-pk").values_list("pk", flat=True)]


@pytest.fixture
def street(db: None) -> tuple[Merchant, Merchant]:
    """One shop that sold a lot once, and one that sells now."""
    quiet, busy = MerchantFactory(), MerchantFactory()
    sell(quiet, 2 * LENGTH + 7)
    sell(busy, LENGTH, first=1_000_000)
    return quiet, busy


def test_from_the_newest_on_every_charge_is_shown_once(street: Any, operator: Client) -> None:
    pages = list(walk(operator, "?", "Older"))
    assert [pk for page in pages for pk in page] == newest_first()
    assert [len(page) for page in pages] == [LENGTH] * 3 + [7]


def test_from_the_oldest_on_every_charge_is_shown_once(street: Any, operator: Client) -> None:
    pages = list(walk(operator, "?p=last", "Newer"))
    assert [pk for page in reversed(pages) for pk in page] == newest_first()


def test_a_page_leads_back_to_the_one_before(street: Any, operator: Client) -> None:
    first, second, *_ = walk(operator, "?", "Older")
    back = list(walk(operator, f"?p=newer.{second[0]}", "Newer"))
    assert back == [first]


def test_a_charge_that_comes_meanwhile_moves_no_page(street: Any, operator: Client) -> None:
    pages = walk(operator, "?", "Older")
    shown = next(pages)
    ChargeFactory(is_held=True)
    assert next(pages)[0] == newest_first()[LENGTH + 1]
    assert shown[-1] == newest_first()[LENGTH]


def test_a_filter_stays_from_page_to_page(street: tuple[Merchant, Merchant], operator: Client) -> None:
    quiet, _ = street
    pages = list(walk(operator, f"?merchant={quiet.pk}&mode=test", "Older"))
    assert [pk for page in pages for pk in page] == newest_first(merchant=quiet)
    assert len(pages) == 3


@pytest.mark.parametrize(
    "narrowed",
    [
        "?mode=test",
        "?money=captured",
        "?type=card",
        "?least=1&currency=PHP",
        "?q=rice",
        "?q=3055",
        "?money=captured&mode=test",
    ],
)
def test_a_narrowed_list_is_paged_likewise(narrowed: str, street: Any, operator: Client) -> None:
    rebuild()
    pages = list(walk(operator, narrowed, "Older"))
    assert [pk for page in pages for pk in page] == newest_first()


def held(merchant: Merchant, count: int) -> None:
    """Let the newest charges' holds end first, and some at the same moment."""
    now = clock.now()
    for place in range(count):
        ChargeFactory(merchant=merchant, is_held=True, hold_expires_at=now - timedelta(hours=place // 3))


@pytest.mark.parametrize("limit", ["", "&merchant={}"], ids=["of all", "of one merchant"])
def test_holds_are_sorted_by_their_end_with_each_on_one_page(
    limit: str, operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admin.site._registry[Charge], "list_per_page", 4)
    shop = MerchantFactory()
    held(shop, 10)
    by_end = [str(pk) for pk in Charge.objects.order_by("hold_expires_at", "pk").values_list("pk", flat=True)]
    address = "?money=held" + limit.format(shop.pk)
    sort = re.search(r'href="(\?[^"]*)">Hold expires</a>', text_of(operator.get(list_of(Charge) + address)))
    assert sort
    sorted_address = html.unescape(sort[1])
    use_indexes()
    with connection.cursor() as cursor:
        # Among ten rows a sort costs less than an index that is in order.
        cursor.execute("SET LOCAL enable_sort = off; SET LOCAL enable_incremental_sort = off")
    with CaptureQueriesContext(connection) as queries:
        pages = list(walk(operator, sorted_address, "Later"))
    found_by = [one["sql"] for one in queries if '"hold_expires_at" IS NOT NULL' in one["sql"]]
    assert [pk for page in pages for pk in page] == by_end
    assert [len(page) for page in pages] == [4, 4, 2]
    back = list(walk(operator, f"{sorted_address}&p=first", "Earlier"))
    assert [pk for page in reversed(back) for pk in page] == by_end
    used = {scan["Index Name"] for sql in found_by for scan in scans_of(sql)}
    assert ("charge_hold_of_merchant" if limit else "charge_hold_due") in used


def test_an_address_that_no_page_has_shows_the_first(street: Any, operator: Client) -> None:
    for page in ("x", "older.", "older.x", "older.x~y", "newer.1", "7", "older.ch_" + "0" * 32):
        assert shown_on(text_of(operator.get(list_of(Charge), {"p": page}))) == newest_first()[:LENGTH], page


def test_a_list_without_rows_says_so(operator: Client) -> None:
    assert "No charges yet" in text_of(operator.get(list_of(Charge)))


@pytest.mark.parametrize(("start", "link"), [("", "Older"), ("&p=last", "Newer")], ids=["newest", "oldest"])
def test_a_search_for_what_is_rare_is_continued_on_the_next_page(start: str, link: str, operator: Client) -> None:
    sell(MerchantFactory(), SEARCHED_ROWS + LENGTH)
    ids = newest_first()
    rare = ids[0] if start else ids[-1]
    Charge.objects.filter(pk=rare).update(amount=777_700)
    pages = list(walk(operator, f"?least=7,777&most=7,777&currency=PHP{start}", link))
    assert pages == [[], [rare]]


def test_every_list_that_is_newest_first_is_paged_so(house: House, operator: Client) -> None:
    for model, page in admin.site._registry.items():
        if tuple(page.ordering or ()) == ("-pk",):
            text = text_of(operator.get(list_of(model), {"p": "last"}))
            assert 'aria-label="Pages"' in text or 'class="nothing"' in text, model
