"""A picture of what a browser's tab shows, small enough for a guide."""

import base64

from playwright.sync_api import Page

from payments.embedded.folders import PROJECT

PICTURES = PROJECT / "payments" / "static" / "docs" / "screenshots"
MOST_BYTES = 60_000
# A busy page takes the next one until its picture is small enough.
QUALITIES_PERCENT = (70, 60, 50, 40)


def take(tab: Page, name: str) -> dict[str, int]:
    """Write the picture `name` of a tab, and close the tab's context; return how many bytes it has, by name."""
    session = tab.context.new_cdp_session(tab)
    for quality in QUALITIES_PERCENT:
        asked = {"format": "webp", "quality": quality}
        content = base64.b64decode(session.send("Page.captureScreenshot", asked)["data"])
        if len(content) <= MOST_BYTES:
            break
    tab.context.close()
    return {name: (PICTURES / f"{name}.webp").write_bytes(content)}
