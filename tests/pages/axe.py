"""What axe finds wrong on a page."""

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

# What is right is not described: that took most of the time on a long page.
ONLY_FAULTS = {"resultTypes": ["violations"], "preload": False}


def faults_of(tab: Page, **options: Any) -> list[Any]:
    """Return the rules that the page breaks, each with the nodes that do."""
    faults: list[Any] = Axe().run(tab, options=ONLY_FAULTS | options).response["violations"]
    return faults
