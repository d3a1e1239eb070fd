"""Whether the books hold what was answered. Needs Django's settings."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import F, QuerySet

from config.benchmark.callbacks import Told
from payments.invariants import checking
from payments.invariants.registry import INVARIANTS
from payments.models import Charge, Source
from payments.quickstart.payment import REFUNDED

# The parts whose answers are of charges that were seeded.
SEEDED = ("middle", "last", "quiet")
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
    "callbacks": CAPTURED,
    **dict.fromkeys(["list", "retrieve", *SEEDED], Charge.objects.all()),
}


@dataclass(frozen=True)
class Books:
    """How many objects were `answered` under load, which of them are `missing`, and which invariants are `broken`.

    `charges` are all that were answered, those that only prepared something too, and `charges_in_books` all there are,
    without those that were seeded.
    """

    answered: int
    missing: list[str]
    charges: int
    charges_in_books: int
    invariants: int
    broken: list[str]
    callbacks: Told | None = None

    @property
    def in_order(self) -> bool:
        is_complete = self.callbacks is None or self.callbacks.is_complete
        return not self.missing and not self.broken and self.charges == self.charges_in_books and is_complete


def check(
    answered: Mapping[str, Collection[str]],
    prepared: Collection[str],
    seeded: int = 0,
    callbacks: Told | None = None,
) -> Books:
    """Hold the books against the IDs that each part's load was answered, and those of charges that were prepared.

    Where so many others were `seeded`, the invariants say nothing: their payments are in no provider's books.
    """
    invariants = [] if seeded else INVARIANTS
    objects = {text for ids in answered.values() for text in ids}
    return Books(
        answered=len(objects),
        missing=[text for part, ids in answered.items() for text in _missing(part, ids)],
        charges=len({*prepared, *_charged(answered)}),
        charges_in_books=Charge.objects.count() - seeded,
        invariants=len(invariants),
        broken=[failure["name"] for failure in checking.run(invariants).failures],
        callbacks=callbacks,
    )


def _charged(answered: Mapping[str, Collection[str]]) -> Iterator[str]:
    """The charges among what was answered, without those that were seeded."""
    for part, ids in answered.items():
        if part not in SEEDED:
            yield from (text for text in ids if text.startswith("ch_"))


def _missing(part: str, ids: Collection[str]) -> list[str]:
    wanted = {UUID(text.partition("_")[2]): text for text in ids}
    if not wanted:
        return []
    # IDs are by time, so that few of what was seeded lie between these.
    between = PROMISED[part].filter(id__range=(min(wanted), max(wanted)))
    there = set(between.values_list("id", flat=True))
    return [text for uuid, text in wanted.items() if uuid not in there]
