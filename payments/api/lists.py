"""Lists by keyset, newest first (contract, section 3).

For each combination of filters the query is compiled once, which takes the ORM longer than twenty rows to be read.
"""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Exists, QuerySet
from django.http import HttpResponse
from rest_framework.request import Request

from payments.api.requests import show
from payments.domain.caller import Caller
from payments.domain.errors import PaymentError, invalid
from payments.ids import parse_id, public_id
from payments.models.frozen import Frozen
from payments.models.scoping import ScopedQuerySet

# Filters that few rows pass and that have an index of their own.
NARROWING = {"source", "customer", "email", "object"}
# What of a query is no filter.
PART = {"limit", "start_after"}


def paged(narrow: Callable[[Mapping[str, Any]], ScopedQuerySet[Any]]) -> Frozen[..., Any]:
    """A list to be shown by `show_page`, of the rows (not yet scoped) that `narrow` finds for filters.

    Each row of a page that starts after an object has as `anchor` whether there is such a one.
    """

    def page(*, merchant_id: UUID, livemode: bool, after: UUID | None, length: int, **filters: Any) -> QuerySet[Any]:
        rows = narrow(filters)
        found = rows.newest_page(merchant_id, livemode, after, length, bool(NARROWING & filters.keys()))
        anchor = rows.model.objects.of(merchant_id, livemode).filter(id=after)
        return found if after is None else found.annotate(anchor=Exists(anchor))

    return Frozen(page)


def show_page(
    request: Request,
    caller: Caller,
    page: Frozen[..., Any],
    prefix: str,
    query: dict[str, Any],
    render: Callable[[Any], Any],
) -> HttpResponse:
    """A page of a list: at most `limit`, older than the object `start_after`, and as the filters in `query` say.

    Raises PaymentError 422 when `start_after` names no object of this merchant and mode.
    """
    limit, after = query["limit"], _start_after(prefix, query.get("start_after"))
    filters = {name: value for name, value in query.items() if name not in PART}
    owner = {"merchant_id": caller.merchant_id, "livemode": caller.livemode}
    found = page(**owner, after=after, length=limit + 1, **filters)
    if after is not None and not (found[0].anchor if found else _is_there(page, after, owner)):
        raise _unknown_start()
    body: dict[str, Any] = {"object": "list", "data": [render(row) for row in found[:limit]]}
    if len(found) > limit:
        body["next"] = _next_path(request, public_id(prefix, found[limit - 1].id))
    return show(body)


def _start_after(prefix: str, text: str | None) -> UUID | None:
    if text is None:
        return None
    after = parse_id(prefix, text)
    if after is None:
        raise _unknown_start()
    return after


def _is_there(page: Frozen[..., Any], after: UUID, owner: dict[str, Any]) -> bool:
    rows: Any = page.build(**owner, after=None, length=1)
    return bool(rows.model.objects.of(**owner).filter(id=after).exists())


def _unknown_start() -> PaymentError:
    return invalid("invalid_choice", "start_after", "This names no object in the list.")


def _next_path(request: Request, last_id: str) -> str:
    kept = {name: value for name, value in request.query_params.items() if name not in ("start_after", "expand")}
    return f"{request.path.rstrip('/')}/?{urlencode({'start_after': last_id, **kept}, safe='[]')}"
