"""Whether the books hold what was answered."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import F, QuerySet

from payments.embedded.processes import wait_until
from payments.ids import parse_id
from payments.invariants import checks
from payments.invariants.registry import INVARIANTS
from payments.models import Charge, Event, Source, Webhook
from tests.benchmark.parts import PARTS
from tests.support.processes import Failed, Program

DRAIN_SECONDS = 600
CAPTURED = Charge.objects.filter(status="succeeded", captured=True, amount_captured=F("amount"))
# Where the objects are, by the part whose answers promise that they are there and in this state.
PROMISED: dict[str, QuerySet[Charge] | QuerySet[Source]] = {
    **dict.fromkeys(PARTS, Charge.objects.all()),
    **dict.fromkeys(("charges", "callbacks"), CAPTURED),
    "sources": Source.objects.all(),
}


@dataclass(frozen=True)
class Delivery:
    """How many `events` there were, how many of them are `delivered` or wait in the `outbox`, and were `received`.

    `left` are those that waited when a stretch of load ended, of the stretch that left most.
    """

    events: int
    delivered: int
    outbox: int
    received: int
    left: int

    @property
    def is_complete(self) -> bool:
        return self.events == self.delivered + self.outbox and self.received >= self.delivered


@dataclass(frozen=True)
class Books:
    """How many objects were `answered` under load, which of them are `missing`, and which invariants are `broken`.

    `charges` are all that were answered, also those that only prepared something, and `charges_in_books` all
    there are but what was there before.
    """

    answered: int
    missing: list[str]
    charges: int
    charges_in_books: int
    invariants: int
    broken: list[str]
    callbacks: Delivery | None = None

    @property
    def in_order(self) -> bool:
        is_complete = self.callbacks is None or self.callbacks.is_complete
        return not self.missing and not self.broken and self.charges == self.charges_in_books and is_complete


@dataclass
class Outbox:
    """The callbacks to a `receiver`, which the worker delivers while their charges are made."""

    receiver: Program
    most_left: int = 0

    def drain(self) -> None:
        """Wait until all is delivered, before anything else is measured. Raises Failed."""
        self.most_left = max(self.most_left, _webhooks("waiting"))
        if not wait_until(lambda: not _webhooks("waiting"), DRAIN_SECONDS):
            raise Failed(f"the outbox was not empty within {DRAIN_SECONDS} seconds.")

    def delivery(self, charges: Sequence[str]) -> Delivery:
        """Return the delivery of the events of these charges, which are all that name the endpoint."""
        ids = [parse_id("ch", charge) for charge in charges]
        return Delivery(
            events=Event.objects.extra(where=["object_id = ANY(%s::uuid[])"], params=[ids]).count(),
            delivered=_webhooks("delivered"),
            outbox=_webhooks("waiting"),
            received=int(self.receiver.ask()),
            left=self.most_left,
        )


def check(
    answered: Mapping[str, Collection[str]],
    prepared: Collection[str],
    others: int = 0,
    is_seeded: bool = False,
    callbacks: Delivery | None = None,
) -> Books:
    """Hold all charges but so many `others` against the IDs that each part's load was answered, and `prepared`.

    Where some of them are seeded, no invariant is checked: their payments are in no provider's books.
    """
    invariants = [] if is_seeded else INVARIANTS
    objects = {text for ids in answered.values() for text in ids}
    of_load = {text for name, ids in answered.items() if not PARTS[name].seeded for text in ids}
    return Books(
        answered=len(objects),
        missing=[text for part, ids in answered.items() for text in _missing(part, ids)],
        charges=len({*prepared, *(text for text in of_load if text.startswith("ch_"))}),
        charges_in_books=Charge.objects.count() - others,
        invariants=len(invariants),
        broken=[failure["name"] for failure in checks.run(invariants).failures],
        callbacks=callbacks,
    )


def _missing(part: str, ids: Collection[str]) -> list[str]:
    wanted = {UUID(text.partition("_")[2]): text for text in ids}
    if not wanted:
        return []
    # IDs are by time, so that few of what was seeded lie between these.
    between = PROMISED[part].filter(id__range=(min(wanted), max(wanted)))
    there = set(between.values_list("id", flat=True))
    return [text for uuid, text in wanted.items() if uuid not in there]


def _webhooks(state: str) -> int:
    return Webhook.objects.filter(state=state).count()
