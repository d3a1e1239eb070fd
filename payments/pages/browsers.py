"""Which browser a payer uses, as roughly as an operator wants to know."""

from django.http import HttpRequest

OTHER = "another browser"
# The first that fits: many a browser also names those that it resembles.
FAMILIES = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("FxiOS/", "Firefox"),
    ("Firefox/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)


def browser_of(request: HttpRequest) -> str:
    """The family of the browser that asks; what it says of itself is not kept."""
    agent = request.headers.get("User-Agent", "")
    return next((family for mark, family in FAMILIES if mark in agent), OTHER)
