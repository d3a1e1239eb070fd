"""Pictures of the main pages of the admin and of the merchants' site, with a year of demo charges, for the guides."""

import base64
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from django.contrib.auth.models import User
from playwright.sync_api import Page

from payments.embedded.folders import PROJECT
from payments.quickstart import demo_merchant
from tests.figures.back_office.demo_office import demo_office
from tests.office.pages import main_pages
from tests.office.tabs import WAYS, Office

PICTURES = PROJECT / "payments" / "static" / "docs" / "screenshots"
QUALITY_PERCENT = 70
SHOTS: Sequence[tuple[str, str]] = (
    *(("first-page", way) for way in WAYS),
    *(("charges", way) for way in WAYS),
    *(("charge", way) for way in WAYS),
    *(("refund", "light"), ("desk", "light")),
)
OF_MERCHANT = {"home": "/merchant/", "charges": "/merchant/payments/charge/"}


def screenshots(charges: int, folder: Path) -> dict[str, int]:
    """Seed so many charges and write a picture of each page; return how many bytes each has."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    sizes = {}
    with demo_office(charges, folder) as office:
        pages = main_pages()
        for page, way in SHOTS:
            name = f"{page}-{way}.webp"
            sizes[name] = _take(office.tab_of("superuser", "ana", **WAYS[way]), pages[page], PICTURES / name)
        sizes |= of_merchant(office)
    return sizes


def of_merchant(office: Office) -> dict[str, int]:
    """Write a picture of each page of the merchants' site, as the owner of the demo shop sees it."""
    owner, sizes = User.objects.get(username=demo_merchant.OWNER), {}
    for (page, address), way in product(OF_MERCHANT.items(), WAYS):
        name = f"merchant-{page}-{way}.webp"
        sizes[name] = _take(office.tab_of_user(owner, **WAYS[way]), address, PICTURES / name)
    return sizes


def _take(tab: Page, address: str, picture: Path) -> int:
    tab.goto(address)
    asked = {"format": "webp", "quality": QUALITY_PERCENT}
    taken = tab.context.new_cdp_session(tab).send("Page.captureScreenshot", asked)
    tab.context.close()
    return picture.write_bytes(base64.b64decode(taken["data"]))
