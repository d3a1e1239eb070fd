"""Lists by keyset, newest first (contract, section 3).

For each combination of filters the query is compiled once: compiling takes the ORM longer than reading twenty rows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Model
from django.http import HttpResponse
from rest_framework.request import Request

from payments.api.responses.rendering import json_response
from payments.api.validation.parsers import query_of
from payments.api.views.viewset import ApiViewSet
from payments.db.scoped_queryset import LAST_ID
from payments.domain.shared.caller import Caller
from payments.domain.shared.errors import PaymentError, invalid
from payments.domain.shared.finder import Finder
from payments.ids import parse_id, public_id
from payments.rendering.objects.api_object import ApiObject

Filters = dict[str, Any]
# Turns a validated query and the start of its page into the arguments of the page.
Narrow = Callable[[Caller, Mapping[str, Any], UUID | None], Filters]


def from_start(_caller: Caller, _query: Mapping[str, Any], after: UUID | None) -> Filters:
    """Return the arguments of a list without filters."""
    return {"below": after or LAST_ID}


@dataclass(frozen=True)
class Listing:
    """A list: its model, the prefix of its IDs, its query, and the function that makes the arguments of the query.

    `shown_id` is the column of the ID that merchants see; the list is ordered by `id`. All its rows have the values of
    `within`.
    """

    model: type[Model]
    prefix: str
    page: Callable[..., list[Any]]
    narrow: Narrow = from_start
    shown_id: str = "id"
    within: Mapping[str, Any] = field(default_factory=dict)

    def position(self, caller: Caller, shown_id: UUID, **values: Any) -> UUID | None:
        """Return the `id` of an object of the caller, None if there is none."""
        rows: Any = self.model._default_manager
        found = rows.of(caller.merchant_id, caller.livemode).filter(
            **{self.shown_id: shown_id}, **self.within, **values
        )
        return next(iter(found.values_list("id", flat=True)), None)


def show_page(
    request: Request, caller: Caller, listing: Listing, query: dict[str, Any], render: Callable[[Any], Any]
) -> HttpResponse:
    """Answer a page of a list: at most `limit` objects older than `start_after` that pass the filters of `query`.

    Raises PaymentError 422 when `start_after` names no object of this merchant and mode.
    """
    limit, found = query["limit"], read_page(caller, listing, query, query["limit"] + 1)
    body: dict[str, Any] = {"object": "list", "data": [render(row) for row in found[:limit]]}
    if len(found) > limit:
        body["next"] = _next_path(request, public_id(listing.prefix, getattr(found[limit - 1], listing.shown_id)))
    return json_response(body)


def read_page(caller: Caller, listing: Listing, query: Mapping[str, Any], length: int) -> list[Any]:
    """Return at most `length` rows of a page. Raises PaymentError 422 as `show_page` does."""
    values = listing.narrow(caller, query, cursor_of(caller, listing, query, "start_after"))
    return listing.page(merchant_id=caller.merchant_id, livemode=caller.livemode, length=length, **values)


def cursor_of(caller: Caller, listing: Listing, query: Mapping[str, Any], param: str) -> UUID | None:
    """Return the `id` of the object that `param` names, None without one. Raises PaymentError 422."""
    text = query.get(param)
    if text is None:
        return None
    shown_id = parse_id(listing.prefix, text)
    # Events of one object are ordered by their numbers, which those of others do not share.
    same = {"object_id": query["object"][1]} if "object" in query else {}
    position = listing.position(caller, shown_id, **same) if shown_id else None
    if position is None:
        raise not_in_list(param)
    return position


def not_in_list(param: str) -> PaymentError:
    return invalid("invalid_choice", param, "This names no object in the list.")


def _next_path(request: Request, last_id: str) -> str:
    kept = {name: value for name, value in query_of(request).items() if name != "start_after"}
    return f"{request.path.rstrip('/')}/?{urlencode({'start_after': last_id, **kept}, safe='[]')}"


class ObjectViewSet(ApiViewSet):
    """The base of resources whose rows are `shown` as an object, and of which `find` finds one."""

    shown: ApiObject
    find: Finder[Any]

    def retrieve(self, request: Request, pk: str) -> HttpResponse:
        return json_response(self.shown.render(self.find(self.caller(request), pk)))


class ListViewSet(ObjectViewSet):
    """The base of such resources that have a `listing`, too."""

    listing: Listing

    def list(self, request: Request) -> HttpResponse:
        return show_page(request, self.caller(request), self.listing, self.query, self.shown.render)
