"""A merchant's branding as the API shows it."""

from collections.abc import Mapping
from typing import Any

from payments.rendering.brand import COLOUR, OWN_ACCENT, OWN_COLOUR
from payments.rendering.objects import member
from payments.rendering.objects.api_object import ApiObject, Member


def _colour(name: str, own: str, example: str) -> Member:
    """Return the colour `name`, kaha's own where a merchant has set none or a malformed one."""

    def read(branding: Mapping[str, Any]) -> str:
        colour = str(branding.get(name) or "")
        return colour if COLOUR.fullmatch(colour) else own

    meaning = f"Colour in hex; kaha's own, `{own}`, where you have set none."
    return Member({"type": "string", "pattern": f"^{COLOUR.pattern}$"}, meaning, read=read, example=example)


def _picture(name: str, meaning: str, example: str | None = None) -> Member:
    return member.or_null(member.web_address(meaning, example, read=lambda branding: branding.get(name)))


EXAMPLE_LOGO = "https://pay.example/pictures/5a1cf1f4-2d0b-8e3a-9f0c-64b2e8d1a907.png"
# It shows `own_branding` of a merchant.
BRANDING = ApiObject(
    "Branding",
    "How a merchant's pages look.",
    icon=_picture("icon", "A small square picture that was uploaded, at an address that ends with it."),
    logo=_picture(
        "logo",
        "The logo that was uploaded. Its address ends when another is uploaded, so do not keep it.",
        EXAMPLE_LOGO,
    ),
    use_logo=member.flag(
        "Whether the logo is shown in place of the icon.", True, read=lambda branding: branding.get("use_logo") is True
    ),
    brand_color=_colour("brand_color", OWN_COLOUR, "#1a73e8"),
    accent_color=_colour("accent_color", OWN_ACCENT, OWN_ACCENT),
)
