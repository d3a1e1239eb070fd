"""Lists by keyset, newest first (contract, section 3).

For each combination of filters the query is compiled once: compiling takes the ORM longer than reading twenty rows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Model
from django.http import HttpResponse
from rest_framework.request import Request

from payments.api.responses.rendering import json_response
from payments.api.validation.parsers import is_ignored
from payments.db.compiled_query import CompiledQuery
from payments.domain.caller import Caller
from payments.domain.errors import PaymentError, invalid
from payments.ids import parse_id, public_id

Filters = dict[str, Any]
# Turns a validated query and the start of its page into the arguments of the page.
Narrow = Callable[[Caller, Mapping[str, Any], UUID | None], Filters]


@dataclass(frozen=True)
class Listing:
    """A list: its model, the prefix of its IDs, its query, and the function that makes the arguments of the query."""

    model: type[Model]
    prefix: str
    page: CompiledQuery[..., Any]
    narrow: Narrow

    def has(self, caller: Caller, after: UUID, **values: Any) -> bool:
        """Return whether there is such an object of the caller."""
        rows: Any = self.model._default_manager
        return bool(rows.of(caller.merchant_id, caller.livemode).filter(id=after, **values).exists())


def show_page(
    request: Request, caller: Caller, listing: Listing, query: dict[str, Any], render: Callable[[Any], Any]
) -> HttpResponse:
    """Answer a page of a list: at most `limit` objects older than `start_after` that pass the filters of `query`.

    Raises PaymentError 422 when `start_after` names no object of this merchant and mode.
    """
    limit, after = query["limit"], _start_after(caller, listing, query)
    values = listing.narrow(caller, query, after)
    owner = {"merchant_id": caller.merchant_id, "livemode": caller.livemode}
    found = listing.page(**owner, length=limit + 1, **values)
    body: dict[str, Any] = {"object": "list", "data": [render(row) for row in found[:limit]]}
    if len(found) > limit:
        body["next"] = _next_path(request, public_id(listing.prefix, found[limit - 1].id))
    return json_response(body)


def _start_after(caller: Caller, listing: Listing, query: Mapping[str, Any]) -> UUID | None:
    text = query.get("start_after")
    if text is None:
        return None
    after = parse_id(listing.prefix, text)
    # Events of one object are ordered by their numbers, which those of others do not share.
    same = {"object_id": query["object"][1]} if "object" in query else {}
    if after is None or not listing.has(caller, after, **same):
        raise _unknown_start()
    return after


def _unknown_start() -> PaymentError:
    return invalid("invalid_choice", "start_after", "This names no object in the list.")


def _next_path(request: Request, last_id: str) -> str:
    given = request.query_params.items()
    kept = {name: value for name, value in given if name != "start_after" and not is_ignored(name)}
    return f"{request.path.rstrip('/')}/?{urlencode({'start_after': last_id, **kept}, safe='[]')}"
