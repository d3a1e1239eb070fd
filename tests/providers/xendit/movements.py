"""The fake's list of what moved, newest first, a page at a time: payments whose money was taken, and refunds."""

from datetime import datetime
from operator import itemgetter
from typing import Any
from urllib.parse import urlencode

from tests.providers.xendit import shapes
from tests.providers.xendit.books import Books

LIMIT = 10


def page(books: Books, query: dict[str, Any]) -> dict[str, Any]:
    """Return the page that a request asks for."""
    paid = [shapes.listed_payment(each) for each in books.requests.values() if each.captured]
    movements = [*paid, *(shapes.listed_refund(each) for each in books.refunds.values())]
    wanted = [each for each in sorted(movements, key=itemgetter("created"), reverse=True) if _is_wanted(each, query)]
    ids = [each["id"] for each in wanted]
    begin = ids.index(query["after_id"]) + 1 if "after_id" in query else 0
    end = begin + int(query.get("limit", LIMIT))
    shown = wanted[begin:end]
    return {"has_more": end < len(wanted), "links": _links(query, shown) if end < len(wanted) else [], "data": shown}


def _is_wanted(movement: dict[str, Any], query: dict[str, Any]) -> bool:
    return (
        query.get("reference_id", movement["reference_id"]) == movement["reference_id"]
        and movement["type"] in query.get("types", [movement["type"]])
        and all(_is_within(movement, name, query) for name in ("created", "updated"))
    )


def _is_within(movement: dict[str, Any], name: str, query: dict[str, Any]) -> bool:
    moment = movement[name]
    since, until = query.get(f"{name}[gte]", moment), query.get(f"{name}[lte]", moment)
    return datetime.fromisoformat(since) <= datetime.fromisoformat(moment) <= datetime.fromisoformat(until)


def _links(query: dict[str, Any], shown: list[dict[str, Any]]) -> list[dict[str, str]]:
    further = urlencode(query | {"after_id": shown[-1]["id"]}, doseq=True)
    return [{"href": f"/transactions?{further}", "rel": "next", "method": "GET"}]
