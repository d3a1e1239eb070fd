"""A payer with a browser, and a shop's web site to come back to."""

import shutil
from collections.abc import Generator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from tests.support.http_server import Answered, answering

# A busy machine shows a page late; what never comes fails a test anyhow.
expect.set_options(timeout=30_000)
# The first has no windows, and takes a fifth of the time for a page.
CHROMIUM_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


@contextmanager
def chromium(*args: str) -> Generator[Browser]:
    """Run a browser with these arguments beside the usual ones."""
    path = next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    if path is None:
        pytest.skip(f"no Chromium is installed (one of {', '.join(CHROMIUM_NAMES)})")
    with pytest.MonkeyPatch.context() as environment, sync_playwright() as playwright:
        # Playwright keeps an event loop in this thread, which makes Django forbid it the database.
        environment.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", *args])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def payer(live_server: LiveServer, settings: Settings, browser: Browser) -> Generator[Page]:
    """Return a payer's browser tab on a phone; anything that the page's policy forbids fails the test."""
    settings.PUBLIC_URL = live_server.url
    context = browser.new_context(viewport={"width": 360, "height": 740})
    complaints: list[str] = []
    context.on("console", lambda message: message.type == "error" and complaints.append(message.text))
    context.set_default_timeout(30_000)
    yield context.new_page()
    context.close()
    assert complaints == []


SHOP_PAGE = b"<!doctype html><title>Shop</title><link rel=icon href=data:,><h1>The shop</h1>"


@pytest.fixture
def shop_site() -> Generator[dict[str, str]]:
    """Return the `redirect` of a source: addresses of a shop with another origin than ours."""
    with answering(lambda _: Answered(200, SHOP_PAGE, {"Content-Type": "text/html"})) as server:
        url = server.address.replace("127.0.0.1", "localhost")
        yield {"success": f"{url}/thanks?order=1", "fail": f"{url}/sorry"}
