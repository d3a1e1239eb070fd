"""Lists by the number of a page, for clients of links and requests that know no cursor (checkout law, section 5)."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from rest_framework.request import Request

from payments.api.access.product_paths import address_of
from payments.api.responses.rendering import json_response
from payments.api.validation.query_fields import MAX_PAGE_LENGTH, QueryInteger
from payments.api.validation.strict import StrictSerializer
from payments.db.scoped_queryset import ScopedQuerySet

DEFAULT_LENGTH = 10
# A list goes no further: to count more rows, or to pass over them, would take a while for each page.
ROWS_MAX = 10_000


class NumberedPageQuery(StrictSerializer):
    """The part of a list: the `page`th of pages of `limit` objects."""

    page = QueryInteger(min_value=1, max_value=ROWS_MAX, default=1, help_text="Which page, from 1 on.")
    limit = QueryInteger(
        min_value=1, max_value=MAX_PAGE_LENGTH, default=DEFAULT_LENGTH, help_text="How many objects a page has."
    )


def show_numbered_page(
    request: Request,
    rows: ScopedQuerySet[Any],
    path: Mapping[str, Any],
    query: Mapping[str, Any],
    render: Callable[[Any], Any],
    *more: Mapping[str, Any],
) -> HttpResponse:
    """Answer the page that a validated `query` asks for, the newest first, of the `rows` with the values of `path`.

    An index has the columns of `path` and then the ID; so it has those of `more` paths.
    """
    paths = [path, *more]
    number, limit = query["page"], query["limit"]
    total = rows.newest_page(paths, ROWS_MAX).count()
    first, end = (number - 1) * limit, min(number * limit, total)
    found = rows.newest_page(paths, end)[first:end] if first < end else []
    shown = [render(row) for row in found]
    body = {
        "total": total,
        "previous": _address(request, query, number - 1) if number > 1 else None,
        "next": _address(request, query, number + 1) if end < total else None,
        "count": len(shown),
        "data": shown,
    }
    return json_response(body)


def _address(request: Request, query: Mapping[str, Any], number: int) -> str:
    given = {name: value for name, value in query.items() if value is not None}
    return f"{address_of(request.META)}?{urlencode(given | {'page': number})}"
