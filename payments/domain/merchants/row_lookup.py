"""Row lookup: find the one row that a person named."""

from typing import TypeVar

from django.db.models import Model, QuerySet

from payments.ids import public_id

Row = TypeVar("Row", bound=Model)


class NotOne(LookupError):
    """An error: no row has this name, or several have; the message is for the person who named it."""


def exactly_one(named: QuerySet[Row], prefix: str, none: str, several: str) -> Row:
    """Return the only row of `named`. Raise NotOne with the text `none`, or `several` and the IDs to choose from."""
    found = list(named.order_by("pk"))
    if not found:
        raise NotOne(none)
    if len(found) > 1:
        ids = ", ".join(public_id(prefix, row.pk) for row in found)
        raise NotOne(f"{several}; give one of the IDs: {ids}.")
    return found[0]
