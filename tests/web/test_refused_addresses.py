"""Which addresses and which pages the event loop refuses, and for how long."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from django.urls import resolve
from pytest_django import Settings

from payments import clock
from payments.api.access.product_paths import lead
from payments.pages.limit import REFUSED, window_of
from payments.pages.urls import urlpatterns
from payments.web import limited_pages
from payments.web.environ import Environ, environ_of
from payments.web.limited_pages import LimitedPages

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ADDRESS, PAGE = "203.0.113.1", "/checkout/cs_0"
LIMITED = (
    *("/components/index.html", "/links/0", PAGE, f"{PAGE}/done", f"{PAGE}/receipt"),
    *("/requests/pr_0", "/requests/pr_0/done", "/requests/pr_0/receipt", "/return/0/receipt"),
    "/pictures/00000000-0000-0000-0000-000000000000.png",
    *("/transparency", "/transparency/heads/1", "/transparency/keys", "/transparency/consistency/1/2"),
)
OTHERS = (
    *("/sdk/kaha.js", "/sdk/1/kaha.js", "/simulator/pay/0", "/simulator/pay/0/qr.svg", "/pay/0", "/pay/0/qr.svg"),
    "/return/0",
)


@pytest.fixture(autouse=True)
def begin_of_a_window(settings: Settings) -> Iterator[None]:
    settings.RATE_LIMIT_ANONYMOUS = "1/second"
    with clock.at(NOON):
        yield


def asked_by(address: str, path: str = PAGE) -> Environ:
    line = {"http_version": "1.1", "scheme": "http", "method": "GET", "raw_path": path.encode(), "query_string": b""}
    ends = {"server": ("127.0.0.1", 80), "client": (address, 1)}
    return environ_of({**line, **ends, "headers": [(b"accept", b"text/html")]})


def refused(pages: LimitedPages, *addresses: str) -> LimitedPages:
    """Have `@limited` refuse these addresses."""
    for address in addresses:
        pages.learn({**asked_by(address), REFUSED: window_of(address)[1]})
    return pages


def test_a_refusal_ends_with_its_window() -> None:
    pages = refused(LimitedPages(), ADDRESS)
    assert pages.answer_to(asked_by(ADDRESS))
    with clock.at(NOON + timedelta(seconds=1)):
        assert pages.answer_to(asked_by(ADDRESS)) is None


def test_the_addresses_that_are_remembered_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limited_pages, "MOST_ADDRESSES", 2)
    addresses = [f"203.0.113.{number}" for number in range(3)]
    pages = refused(LimitedPages(), *addresses)
    assert [bool(pages.answer_to(asked_by(address))) for address in addresses] == [False, True, True]


def test_every_page_has_the_limit_or_is_known_to_have_none() -> None:
    assert {resolve(path).url_name for path in LIMITED + OTHERS} == {pattern.name for pattern in urlpatterns}


@pytest.mark.parametrize("path", [*LIMITED, *OTHERS[2:]])
def test_a_slash_may_end_the_address_of_every_page(path: str) -> None:
    assert resolve(f"{path}/")[:3] == resolve(path)[:3]


def test_a_browser_that_saves_a_receipt_names_no_kind_of_answer_and_gets_the_page() -> None:
    path = f"{PAGE}/receipt"
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": path, "HTTP_ACCEPT": "*/*"}
    lead(environ)
    assert environ["PATH_INFO"] == path


@pytest.mark.parametrize("path", LIMITED + OTHERS)
def test_the_pages_that_have_the_limit_are_refused_and_no_others(path: str) -> None:
    answer = refused(LimitedPages(), ADDRESS).answer_to(asked_by(ADDRESS, path))
    assert bool(answer) == (path in LIMITED)
