"""What axe finds wrong on a page."""

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

# What is right is not described: that took most of the time on a long page.
ONLY_FAULTS = {"resultTypes": ["violations"], "preload": False}
GRAVE = ("serious", "critical")
# A screen reader reads two landmarks of one name alike, which axe calls moderate.
NAMED_GRAVE = ("landmark-unique", "scrollable-region-focusable", "link-in-text-block")


def faults_of(tab: Page, **options: Any) -> list[Any]:
    """Return the rules that the page breaks, each with the nodes that do."""
    faults: list[Any] = Axe().run(tab, options=ONLY_FAULTS | options).response["violations"]
    return faults


def grave_faults(tab: Page, **options: Any) -> list[str]:
    """Return the rules that the page breaks and that keep somebody from using it, each with its first elements."""
    found = [each for each in faults_of(tab, **options) if each["impact"] in GRAVE or each["id"] in NAMED_GRAVE]
    return [f"{each['id']}: {node['html'][:200]}" for each in found for node in each["nodes"][:5]]
