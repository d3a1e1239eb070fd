"""After which age rows are deleted: one table, which a sweep reads. Partitions are dropped by `partitions`."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import Error
from django.db.models import Exists, Model, OuterRef, Q, QuerySet

from payments import clock
from payments.db.writes import delete_in_batches
from payments.domain.checkout.sessions import LIFE
from payments.ids import first_id
from payments.models import (
    ApprovalRequest,
    Checkout,
    Evidence,
    EvidenceSent,
    IdempotencyRecord,
    MoneyCheck,
    Notification,
    PageVisit,
    PayerMessage,
    ProviderEvent,
    ProviderMessage,
    SearchEntry,
    SentFile,
    Source,
)
from payments.models.checkout.checkout import WITHOUT_CHARGE
from payments.providers.simulator.models import Message


@dataclass(frozen=True, slots=True)
class Kept:
    """Rows of `model` that are deleted so many `days` after the moment in `column`: those that meet `which`.

    IDs are in order of time, so that no index of the age is needed: "id" is the moment at which a row was made.
    """

    model: type[Model]
    column: str
    # A number, or the name of the setting that has it.
    days: int | str
    which: Callable[[], Q] = Q
    more: timedelta = timedelta()
    order: str = ""
    batch: int = 1_000

    def old(self, now: datetime) -> QuerySet[Any]:
        """Return the rows that are to be deleted `now`, in the order of an index."""
        days = getattr(settings, self.days) if isinstance(self.days, str) else self.days
        before = now - timedelta(days=days) - self.more
        bound = {f"{self.column}__lt": first_id(before) if self.column == "id" else before}
        return self.model._default_manager.filter(self.which(), **bound).order_by(self.order or self.column)


def _answered() -> Q:
    # The answers of approved actions stay until these are closed, because they prove that they were executed.
    open_keys = [act.idempotency_key for act in ApprovalRequest.objects.approved()]
    return Q(status__isnull=False) & ~Q(key__in=open_keys)


def _applied() -> Q:
    waits = ProviderEvent.objects.filter(Q(due_at__isnull=False) | Q(state=ProviderEvent.State.NEEDS_ATTENTION))
    return ~Q(events__in=waits)


def _left_nothing() -> Q:
    # That a checkout kept a card is asked for as long as the card is kept.
    card = Source.objects.filter(id=OuterRef("check_source_id"), merchant_id=OuterRef("merchant_id"), vaulted=True)
    return WITHOUT_CHARGE & ~Q(Exists(card))


# A checkout ends within its life. One with a charge, even a declined one, stays as long as it does.
CHECKOUTS = Kept(Checkout, "id", "EVENTS_KEEP_DAYS", _left_nothing, more=LIFE)
RETENTION = (
    Kept(IdempotencyRecord, "id", "IDEMPOTENCY_KEEP_DAYS", _answered),
    Kept(SearchEntry, "id", 0, lambda: Q(id__in=CHECKOUTS.old(clock.now()).values("id"))),
    CHECKOUTS,
    Kept(PageVisit, "last_at", 90),
    Kept(PayerMessage, "id", 90),
    Kept(SentFile, "id", 30, batch=100),
    Kept(MoneyCheck, "started_at", 90),
    # Longer than a month, whose statements are mailed once. What still needs attention is announced again.
    Kept(Notification, "created_at", 35),
    Kept(ProviderMessage, "received_at", 90, _applied),
    Kept(Message, "delivered_at", 90, order="id"),
    # Networks decide within months. What test cards are defended with is of no use after that month.
    Kept(Evidence, "created_at", 540, lambda: Q(livemode=True), batch=100),
    Kept(Evidence, "created_at", 30, lambda: Q(livemode=False), batch=100),
    # Counts of a day.
    Kept(EvidenceSent, "day", 0),
)


def delete_old_rows() -> int:
    """Delete what is kept no longer; return how many rows. Raise the last Error, after all are tried."""
    now, total, fault = clock.now(), 0, None
    for kept in RETENTION:
        try:
            total += delete_in_batches(kept.old(now), kept.batch)
        except Error as error:
            fault = error
    if fault:
        raise fault
    return total
