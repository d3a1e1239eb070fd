"""Whether the books hold what was answered. Needs Django's settings."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db.models import F, QuerySet

from config.quickstart.payment import REFUNDED
from payments.ids import parse_id
from payments.invariants import checking
from payments.invariants.registry import INVARIANTS
from payments.models import Charge, Source

CAPTURED = Charge.objects.filter(status="succeeded", captured=True, amount_captured=F("amount"))
# Where the objects are, by the part whose answers promise that they are there and in this state.
PROMISED: dict[str, QuerySet[Charge] | QuerySet[Source]] = {
    "sources": Source.objects.all(),
    "charges": CAPTURED,
    "held": Charge.objects.filter(status="succeeded", authorized=True),
    "declined": Charge.objects.filter(status="failed"),
    "replayed": CAPTURED,
    "capture": CAPTURED,
    "refund": Charge.objects.filter(status="succeeded", amount_refunded=REFUNDED),
    "list": Charge.objects.all(),
    "retrieve": Charge.objects.all(),
}


@dataclass(frozen=True)
class Books:
    """How many objects were `answered` under load, which of them are `missing`, and which invariants are `broken`.

    `charges` are all that were answered, those that only prepared something too, and `charges_in_books` all there are.
    """

    answered: int
    missing: list[str]
    charges: int
    charges_in_books: int
    invariants: int
    broken: list[str]

    @property
    def in_order(self) -> bool:
        return not self.missing and not self.broken and self.charges == self.charges_in_books


def check(answered: Mapping[str, Collection[str]], prepared: Collection[str]) -> Books:
    """Hold the books against the IDs that each part's load was answered, and those of charges that were prepared."""
    objects = {text for ids in answered.values() for text in ids}
    return Books(
        answered=len(objects),
        missing=[text for part, ids in answered.items() for text in _missing(part, ids)],
        charges=len({*prepared, *(text for text in objects if text.startswith("ch_"))}),
        charges_in_books=Charge.objects.count(),
        invariants=len(INVARIANTS),
        broken=[failure["name"] for failure in checking.run(INVARIANTS).failures],
    )


def _missing(part: str, ids: Collection[str]) -> list[str]:
    there = set(PROMISED[part].values_list("id", flat=True))
    return [text for text in ids if parse_id(text.partition("_")[0], text) not in there]
