"""Whatever colours a merchant has, what is on a page can be read and its buttons can be seen."""

from random import Random
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.pages.test_brand import READABLE_CONTRAST, contrast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

VISIBLE_CONTRAST = 3
# Of 8 bits each, a colour of the screen is a little off the one that was computed.
ROUNDED = 0.06
PAIRS = (
    ("--on-ground", "--ground", READABLE_CONTRAST),
    ("--on-ground-soft", "--ground", READABLE_CONTRAST),
    ("--on-button", "--button", READABLE_CONTRAST),
    ("--chosen", "--sheet", READABLE_CONTRAST),
    ("--button-edge", "--sheet", VISIBLE_CONTRAST),
)
COLOURS = """colours => {
  const probe = document.body.appendChild(document.createElement("i")), root = document.documentElement.style
  const shown = name => {
    probe.style.color = `color(from var(${name}) srgb r g b / alpha)`
    return getComputedStyle(probe).color.match(/[\\d.e-]+(?=[ )])/g).map(Number)
  }
  const names = ["--ground", "--on-ground", "--on-ground-soft", "--button", "--on-button", "--button-edge", "--chosen",
    "--sheet"]
  return colours.map(colour => {
    root.setProperty("--primary", colour)
    root.setProperty("--secondary", colour)
    return Object.fromEntries(names.map(name => [name, shown(name)]))
  })
}"""


def some_colours() -> list[str]:
    draw = Random(38)
    corners = [f"#{red}{green}{blue}" for red in ("00", "ff") for green in ("00", "ff") for blue in ("00", "ff")]
    greys = [f"#{grey:02x}{grey:02x}{grey:02x}" for grey in range(0, 256, 15)]
    return [*corners, *greys, *(f"#{draw.randrange(1 << 24):06x}" for _ in range(120))]


def on_screen(channels: list[float], ground: list[float]) -> str:
    """Return a colour of channels from 0 to 1, transparent where there is a fourth one, as it looks on `ground`."""
    opacity = channels[3] if len(channels) > 3 else 1
    mixed = (opacity * one + (1 - opacity) * other for one, other in zip(channels[:3], ground[:3], strict=True))
    return "#" + "".join(f"{round(255 * min(1, max(0, channel))):02x}" for channel in mixed)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_colour_of_a_merchant_keeps_contrast(payer: Page, live_server: Any, scheme: Any) -> None:
    payer.emulate_media(color_scheme=scheme)
    payer.set_content(f'<link rel="stylesheet" href="{live_server.url}/static/payments/payer.css"><body>')
    payer.wait_for_function("getComputedStyle(document.body).display === 'flex'")
    for colour, drawn in zip(some_colours(), payer.evaluate(COLOURS, some_colours()), strict=True):
        for name, ground, least in PAIRS:
            found = contrast(on_screen(drawn[name], drawn[ground]), on_screen(drawn[ground], drawn[ground]))
            assert found >= least - ROUNDED, (colour, name, found)
