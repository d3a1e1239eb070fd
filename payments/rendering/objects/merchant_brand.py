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
