"""The admin in a browser, with a year of demo charges."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.core.management import call_command
from playwright.sync_api import sync_playwright

from payments.ids import new_id
from payments.models import Merchant
from payments.quickstart import demo_merchant
from payments.sweeps import heartbeats
from tests.approvals.factories import requested_key
from tests.office.tabs import Office
from tests.pages.conftest import CHROMIUM_NAMES
from tests.support.web import web_server


@contextmanager
def demo_office(charges: int, folder: Path) -> Iterator[Office]:
    """Seed so many charges, of a demo shop too, and start a web server and a browser until the block ends."""
    demo_merchant.keep(folder / "demo.json")
    call_command("seed_demo", charges=charges, own=Merchant.objects.get())
    requested_key(Merchant.objects.earliest("pk"))
    call_command("check_money", verbosity=0)
    # So that home finds a worker at work.
    heartbeats.beat(new_id(), "worker-1", 1, 0, 4)
    # Playwright keeps an event loop in this thread, which makes Django forbid it the database.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    chromium = next(filter(None, map(shutil.which, CHROMIUM_NAMES)))
    with web_server(folder) as url, sync_playwright() as playwright:
        yield Office(playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"]), url)
