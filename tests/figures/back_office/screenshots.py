"""Pictures of the main pages of the admin, with a year of demo charges, for the guides."""

import base64
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from django.core.management import call_command
from playwright.sync_api import Page, sync_playwright

from payments.embedded.folders import PROJECT
from payments.models import Merchant
from tests.approvals.factories import requested_key
from tests.office.pages import main_pages
from tests.office.tabs import WAYS, Office
from tests.pages.conftest import CHROMIUM_NAMES
from tests.support.web import web_server

PICTURES = PROJECT / "payments" / "static" / "docs" / "screenshots"
QUALITY_PERCENT = 70
SHOTS: Sequence[tuple[str, str]] = (
    *(("first-page", way) for way in WAYS),
    *(("charges", way) for way in WAYS),
    *(("charge", way) for way in WAYS),
    *(("refund", "light"), ("desk", "light")),
)


def screenshots(charges: int, folder: Path) -> dict[str, int]:
    """Seed so many charges and write a picture of each page; return how many bytes each has."""
    call_command("seed_demo", charges=charges)
    requested_key(Merchant.objects.earliest("pk"))
    call_command("check_money", verbosity=0)
    # Playwright keeps an event loop in this thread, which makes Django forbid it the database.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    chromium = next(filter(None, map(shutil.which, CHROMIUM_NAMES)))
    PICTURES.mkdir(parents=True, exist_ok=True)
    pages, sizes = main_pages(), {}
    with web_server(folder) as url, sync_playwright() as playwright:
        office = Office(playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"]), url)
        for page, way in SHOTS:
            name = f"{page}-{way}.webp"
            sizes[name] = _take(office.tab_of("superuser", "ana", **WAYS[way]), pages[page], PICTURES / name)
    return sizes


def _take(tab: Page, address: str, picture: Path) -> int:
    tab.goto(address)
    asked = {"format": "webp", "quality": QUALITY_PERCENT}
    taken = tab.context.new_cdp_session(tab).send("Page.captureScreenshot", asked)
    tab.context.close()
    return picture.write_bytes(base64.b64decode(taken["data"]))
