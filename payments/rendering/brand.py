"""How a merchant's branding looks on pages of payers."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from payments.models import Merchant

COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
ORIGIN = re.compile(r"https://[a-zA-Z0-9.-]+(:[0-9]{1,5})?")
BLACK, WHITE = "#000000", "#ffffff"
# kaha's own colours (payer.css), where a merchant has set none.
OWN_COLOUR, OWN_ACCENT = "#0b5f59", "#ffd84d"
# A colour with more luminance than this has more contrast to black than to white.
MIDDLE_LUMINANCE = 0.179


@dataclass(frozen=True, slots=True)
class Brand:
    """A logo with its origin, the colour of a page's ground and that of its buttons; "" for what is not set."""

    logo: str = ""
    logo_origin: str = ""
    primary: str = ""
    secondary: str = ""


def own_branding(merchant: Merchant) -> dict[str, Any]:
    """Return the `branding` of a merchant, with the addresses of its pictures."""
    pictures = {"logo": merchant.logo, "icon": merchant.icon}
    return merchant.branding | {
        name: f"{settings.PUBLIC_URL}/pictures/{picture}.png" for name, picture in pictures.items() if picture
    }


def with_own_pictures(given: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return a `given` branding in which the address of a picture of ours stands for the merchant's `own`.

    A program may have copied it from the account, and it ends when another picture is uploaded.
    """
    ours = f"{settings.PUBLIC_URL}/pictures/"
    copied = [name for name in ("logo", "icon") if str(given.get(name) or "").startswith(ours)]
    return {**given, **{name: own.get(name) for name in copied if given[name] not in own.values()}}


def brand_of(branding: Mapping[str, Any]) -> Brand:
    """Return the brand in the `branding` of a merchant or of a checkout; a malformed colour or address counts as none.

    Buttons have the colour of the ground where they have none of their own.
    """
    logo = str(branding.get("logo" if branding.get("use_logo") else "icon") or "")
    parts = urlsplit(logo)
    origin = f"{parts.scheme}://{parts.netloc}"
    if not ORIGIN.fullmatch(origin) and origin != settings.PUBLIC_URL:
        logo = origin = ""
    primary = _first_colour(branding, "primary_color", "brand_color")
    return Brand(logo, origin, primary, _first_colour(branding, "secondary_color", "accent_color") or primary)


def _first_colour(branding: Mapping[str, Any], *names: str) -> str:
    colours = (str(branding.get(name) or "") for name in names)
    return next((colour for colour in colours if COLOUR.fullmatch(colour)), "")


def text_colour(colour: str) -> str:
    """Return black or white, whichever has more contrast to `colour` (`#rrggbb`)."""
    return BLACK if luminance(colour) > MIDDLE_LUMINANCE else WHITE


def luminance(colour: str) -> float:
    """Return the relative luminance of `#rrggbb`, from 0 to 1 (WCAG 2.2)."""
    red, green, blue = (_linear(int(colour[start : start + 2], 16) / 255) for start in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return float(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
