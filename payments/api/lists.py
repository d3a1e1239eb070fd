"""Lists by keyset, newest first (contract, section 3)."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Exists
from django.http import HttpResponse
from rest_framework.request import Request

from payments.api.requests import show
from payments.domain.caller import Caller
from payments.domain.errors import PaymentError, invalid
from payments.ids import parse_id, public_id
from payments.models.scoping import ScopedQuerySet

# Filters that few rows pass and that have an index of their own.
NARROWING = {"source", "customer", "email", "object"}


def show_page(
    request: Request,
    caller: Caller,
    rows: ScopedQuerySet[Any],
    prefix: str,
    query: dict[str, Any],
    render: Callable[[Any], Any],
) -> HttpResponse:
    """A page of `rows` (filtered, not yet scoped): at most `limit`, older than the object `start_after`.

    Raises PaymentError 422 when `start_after` names no object of this merchant and mode.
    """
    limit, after = query["limit"], _start_after(prefix, query.get("start_after"))
    page = rows.newest_page(caller.merchant_id, caller.livemode, after, limit + 1, bool(NARROWING & query.keys()))
    anchor = rows.model.objects.of(caller.merchant_id, caller.livemode).filter(id=after)
    if after is not None:
        page = page.annotate(anchor=Exists(anchor))
    found = list(page)
    if after is not None and not (found[0].anchor if found else anchor.exists()):
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


def _unknown_start() -> PaymentError:
    return invalid("invalid_choice", "start_after", "This names no object in the list.")


def _next_path(request: Request, last_id: str) -> str:
    kept = {name: value for name, value in request.query_params.items() if name not in ("start_after", "expand")}
    return f"{request.path.rstrip('/')}/?{urlencode({'start_after': last_id, **kept}, safe='[]')}"
