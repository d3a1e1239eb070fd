"""Words of other services, and the path of the API that was probably meant by one at which there is nothing."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

API = "v2/"
LONGEST_COMPARED = 60
LEAST_SIMILARITY = 0.75
ID = "{id}"
_PART_OF_ID = re.compile(r"[0-9{:<@]")
_GROUP = re.compile(r"\(\?P<(\w+)>(?:\[[^\]]*\]|[^()\[\]])*\)")
# Words of other services for what kaha has under another one, by their place in the path.
FIRST_WORDS = {
    **dict.fromkeys(("payment", "payments", "payment_intents"), "charges"),
    **dict.fromkeys(("checkout", "sessions", "checkouts"), "checkout_sessions"),
    **dict.fromkeys(("invoices", "invoice"), "payment_requests"),
    **dict.fromkeys(("links", "link"), "payment_links"),
    **dict.fromkeys(("tokens", "cards", "payment_methods"), "sources"),
    **dict.fromkeys(("account", "accounts", "merchant", "organization"), "me"),
    "transactions": "balance_transactions",
    "clock": "test/clock",
    "test_clock": "test/clock",
}
# Members of bodies in other services, and what to use here.
MEMBERS = {
    "data": "Send its attributes as members of the body itself.",
    "ending_before": "Each page has older objects: follow `next`, or send the last ID of a page as `start_after`.",
    "return_url": "Send `success_url` and `cancel_url` of a session, `redirect_url` of a link or a charge.",
    "ui_mode": "The page is always a page of kaha: send the payer to its URL.",
}
VERBS = {"cancel": "void", "reverse": "void", "refunds": "refund", "captures": "capture", "confirm": "verify"}
# Refunds are made and shown with their charge.
REFUNDS = {"refund": f"charges/{ID}/refund", "refunds": f"charges/{ID}/refund"}


def path_near(path: str) -> str | None:
    """Return the template of the path that `path` is most like (`/v2/charges/{id}/refund`), None if it is like none."""
    words = [word for word in path[: 4 * LONGEST_COMPARED].lower().split("/") if word]
    if words and re.fullmatch(r"v[0-9]|api", words[0]):
        words = words[1:]
    if not words:
        return None
    shape = _translated([ID if number and _PART_OF_ID.search(word) else word for number, word in enumerate(words)])
    shapes = [shape] + ([[shape[0], ID, *shape[2:]]] if len(shape) > 1 else [])
    for each in shapes:
        wanted = REFUNDS.get(each[0], "/".join(each))[:LONGEST_COMPARED]
        if found := get_close_matches(wanted, _templates(), 1, LEAST_SIMILARITY):
            return f"/{API}{found[0]}"
    return None


def _translated(shape: list[str]) -> list[str]:
    first, *rest = shape
    verb = [VERBS.get(word, word) if number == 1 else word for number, word in enumerate(rest)]
    return [FIRST_WORDS.get(first, first), *verb]


@cache
def _templates() -> tuple[str, ...]:
    """Return the paths of the API without `/v2/`, from the patterns of its URLs."""
    own = [each for each in get_resolver().url_patterns if str(each.pattern) == API]
    return tuple(dict.fromkeys(template for each in own for template in _of(each)))


def _of(resolver: Any) -> Iterator[str]:
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            yield from _of(pattern)
        elif isinstance(pattern, URLPattern):
            named = _GROUP.sub(lambda group: "{email}" if group[1] == "email" else ID, str(pattern.pattern))
            yield re.sub(r"[\^$]|/\?", "", named)
