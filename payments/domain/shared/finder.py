"""How a caller's object is found by its public ID, by a query that is compiled once."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet

from payments.db.compiled_query import CompiledQuery
from payments.domain.shared.caller import Caller
from payments.domain.shared.errors import not_found
from payments.ids import KINDS, parse_id

Row = TypeVar("Row", bound=Model)


class Finder(Generic[Row]):
    """Finds the objects whose IDs begin with `prefix` among `rows` of a merchant and mode, by the ID in `column`."""

    def __init__(self, prefix: str, rows: Callable[[UUID, bool], QuerySet[Row]], column: str = "id") -> None:
        self._prefix = prefix

        def one(*, merchant_id: UUID, livemode: bool, object_id: UUID) -> QuerySet[Row]:
            wanted: dict[str, Any] = {column: object_id}
            return rows(merchant_id, livemode).filter(**wanted)

        self.query = CompiledQuery(one)

    def __call__(self, caller: Caller, text: str, param: str | None = None) -> Row:
        """Return the caller's object of this public ID. Raise PaymentError `resource_missing`, about `param`."""
        uuid = parse_id(self._prefix, text)
        owner: dict[str, Any] = {"merchant_id": caller.merchant_id, "livemode": caller.livemode}
        found = self.query.first(**owner, object_id=uuid) if uuid else None
        if found is None:
            raise not_found(KINDS[self._prefix], param, text)
        return found
