"""When the pages of the admin show something in a browser, and how far that moves afterwards."""

from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Page

from tests.figures.back_office.demo_office import demo_office
from tests.office.tabs import WAYS, main_pages

ROUNDS = 5
# As the browser itself measures them: https://www.w3.org/TR/paint-timing/ and https://wicg.github.io/layout-instability/
MEASURED = """() => new Promise((resolve) => {
    let shift = 0;
    const watch = (type, take) => new PerformanceObserver((seen) => seen.getEntries().forEach(take)).observe({
        type, buffered: true,
    });
    watch("layout-shift", (entry) => { shift += entry.value; });
    watch("paint", (entry) => {
        if (entry.name === "first-contentful-paint") setTimeout(() => resolve([entry.startTime, shift]), 300);
    });
})"""


def paint(charges: int, folder: Path) -> dict[str, Any]:
    """Seed so many charges; return by page the first contentful paint in milliseconds and the layout shift."""
    figures = {}
    with demo_office(charges, folder) as office:
        pages = main_pages()
        for way in ("light", "phone"):
            tab = office.tab_of("superuser", "ana", **WAYS[way])
            figures[way] = {name: _measured(tab, address) for name, address in pages.items()}
    return figures


def _measured(tab: Page, address: str) -> dict[str, float]:
    """Return the medians of some rounds, after one that fills the browser's cache."""
    tab.goto(address)
    rounds = []
    for _ in range(ROUNDS):
        tab.goto(address)
        rounds.append(tab.evaluate(MEASURED))
    paints, shifts = zip(*rounds, strict=True)
    return {"first_contentful_paint_milliseconds": round(median(paints)), "layout_shift": round(max(shifts), 4)}
