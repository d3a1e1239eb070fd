"""The browser of a payer, as a family."""

from django.http import HttpRequest

OTHER = "another browser"
# The first match counts, because a browser also names those that it is compatible with.
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
    """Return the family of the browser; its whole User-Agent is not stored."""
    agent = request.headers.get("User-Agent", "")
    return next((family for mark, family in FAMILIES if mark in agent), OTHER)
