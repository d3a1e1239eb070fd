"""Who sees what: operators the rows of their merchants alone, and all of each page; some see all merchants.

Every page finds its rows by `get_queryset`, and related rows from these.
"""

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

from payments.models import Merchant, MerchantAccess
from payments.models.merchants.merchant_access import Limit

KEPT_AS = "merchant_limit"


def limit_of(request: HttpRequest) -> Limit:
    """Return the merchants of the request's operator, None for all; read once for each request."""
    if KEPT_AS not in vars(request):
        vars(request)[KEPT_AS] = MerchantAccess.objects.limit_of(request.user)
    limit: Limit = vars(request)[KEPT_AS]
    return limit


class Policy:
    """What the people of a site see of one of its pages: here operators, who see all of it."""

    # Whether the page asks why, and the log has who opened it.
    is_for_operators = True

    def sees(self, page: Any, name: str) -> bool:
        """Return whether they see a column, a field, a filter or a head of a file of `page`."""
        return True

    def sees_field(self, page: Any, request: HttpRequest, name: str) -> bool:
        """Return whether this person sees a field of a row."""
        return self.sees(page, name)

    def seen(self, page: Any, names: Iterable[Any]) -> list[Any]:
        """Return those of `names` that they see; a searched field is named without its sign."""
        return [name for name in names if self.sees(page, name.lstrip("=^@"))]

    def sees_part(self, part: Any) -> bool:
        """Return whether they have a part or an action."""
        return True

    def rows(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Return those of the page's `rows` that this person sees."""
        return rows

    def complete(self, rows: Any) -> None:
        """Change what `rows` show of people."""

    def owner_of_new(self, request: HttpRequest) -> Merchant | None:
        """Return the merchant to whom a new row belongs; None where the form says it."""
        return None
