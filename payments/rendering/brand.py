"""How a merchant's branding looks on pages of payers."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from payments.rendering.objects import member
from payments.rendering.objects.api_object import ApiObject, Member

COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
ORIGIN = re.compile(r"https://[a-zA-Z0-9.-]+(:[0-9]{1,5})?")
BLACK, WHITE = "#000000", "#ffffff"
# kaha's own colours (payer.css), where a merchant has set none.
OWN_COLOUR, OWN_ACCENT = "#0b5f59", "#ffd84d"
# A colour with more luminance than this has more contrast to black than to white.
MIDDLE_LUMINANCE = 0.179


@dataclass(frozen=True, slots=True)
class Brand:
    """A merchant's logo with its origin, and a colour with the text colour on it; "" for what the merchant lacks."""

    logo: str = ""
    logo_origin: str = ""
    colour: str = ""
    text_colour: str = ""


def brand_of(branding: Mapping[str, Any]) -> Brand:
    """Return the brand in a merchant's `branding`; a malformed colour or address counts as none."""
    logo = str(branding.get("logo" if branding.get("use_logo") else "icon") or "")
    parts = urlsplit(logo)
    origin = f"{parts.scheme}://{parts.netloc}"
    if not ORIGIN.fullmatch(origin):
        logo = origin = ""
    colour = str(branding.get("brand_color") or "")
    if not COLOUR.fullmatch(colour):
        return Brand(logo, origin)
    return Brand(logo, origin, colour, BLACK if luminance(colour) > MIDDLE_LUMINANCE else WHITE)


def _colour(name: str, own: str, example: str) -> Member:
    """Return the colour `name`, kaha's own where a merchant has set none or a malformed one."""

    def read(branding: Mapping[str, Any]) -> str:
        colour = str(branding.get(name) or "")
        return colour if COLOUR.fullmatch(colour) else own

    meaning = f"Colour in hex; kaha's own, `{own}`, where you have set none."
    return Member({"type": "string", "pattern": f"^{COLOUR.pattern}$"}, meaning, read=read, example=example)


# It shows the `branding` of a merchant.
BRANDING = ApiObject(
    "Branding",
    "How a merchant's pages look.",
    icon=member.or_null(member.web_address("A small square picture.", read=lambda branding: branding.get("icon"))),
    logo=member.or_null(
        member.web_address("The logo.", "https://shop.example/logo.svg", read=lambda branding: branding.get("logo"))
    ),
    use_logo=member.flag(
        "Whether the logo is shown in place of the icon.", True, read=lambda branding: branding.get("use_logo") is True
    ),
    brand_color=_colour("brand_color", OWN_COLOUR, "#1a73e8"),
    accent_color=_colour("accent_color", OWN_ACCENT, OWN_ACCENT),
)


def luminance(colour: str) -> float:
    """Return the relative luminance of `#rrggbb`, from 0 to 1 (WCAG 2.2)."""
    red, green, blue = (_linear(int(colour[start : start + 2], 16) / 255) for start in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return float(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
