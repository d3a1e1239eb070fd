"""The scope of a sweep: all merchants' objects, or one merchant's."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q


@dataclass(frozen=True, slots=True)
class Scope:
    """All merchants' objects, or those of one merchant in one mode."""

    merchant_id: UUID | None = None
    livemode: bool = False

    def within(self, path: str = "") -> Q:
        """Return the filter for rows; `path` leads to their charge or source, such as "charge__"."""
        if self.merchant_id is None:
            return Q()
        return Q(**{f"{path}merchant_id": self.merchant_id, f"{path}livemode": self.livemode})


ALL_MERCHANTS = Scope()
