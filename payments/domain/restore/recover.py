"""Recovery after a restore to a moment in the past: the providers are asked what happened since.

Each step may run again, also after it was interrupted: what was found before is not booked twice. No step holds a
transaction over a call of a provider, and the time is worked through in slices, so memory and statements stay small.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Count, Q, QuerySet

from payments import clock
from payments.domain.bulkheads import ProviderBusy
from payments.domain.charging import expiry, recovery
from payments.domain.reconciliation import runs
from payments.domain.restore.rebuild import CannotBeBooked, Waits, rebuild
from payments.models import Attempt, ProviderAccount, ReconciliationItem, ReconciliationRun
from payments.providers.base import Report
from payments.providers.done_there import DoneThere, KeepsRecords
from payments.providers.references import read_reference
from payments.providers.registry import PROVIDERS
from payments.providers.settlement_reports import Movement, Reporting, SettlementLine

logger = logging.getLogger("kaha.restore")

SLICE = timedelta(minutes=10)
BATCH = 100
# A payment that was asked for before the moment may have been done after it, and clocks of two hosts differ.
OVERLAP = timedelta(minutes=5)
Progress = Callable[[str], None]


@dataclass
class Summary:
    """What was done, by what it was, and what is left to operators, in words."""

    closed_sources: int = 0
    looked_up: int = 0
    waiting: int = 0
    booked: Counter[str] = field(default_factory=Counter)
    left: list[str] = field(default_factory=list)


def recover(since: datetime, until: datetime, progress: Progress = lambda _: None) -> Summary:
    """Ask every provider what it did from `since` to before `until`, and book it or leave it to operators.

    Raises runs.Busy where a reconciliation is under way: run it again.
    """
    # A charge that we lost may have used one: a retry under its idempotency key must not take the money again.
    summary = Summary(closed_sources=expiry.destroy_numbers_from_before(since))
    progress(f"closed {summary.closed_sources} unused cards")
    summary.looked_up = _look_up(since)
    progress(f"looked up {summary.looked_up} operations without an outcome")
    for name, provider in PROVIDERS.items():
        lines: list[SettlementLine] = []
        if isinstance(provider, KeepsRecords):
            for done in _done(provider, since, until, progress):
                if line := _work_off(name, done, summary):
                    lines.append(line)
        if isinstance(provider, Reporting):
            _reconcile(name, since, until, lines)
    _ask_about_items(since)
    summary.left = list(_left(since, until, summary.waiting))
    return summary


def _look_up(since: datetime) -> int:
    """Look up once what was asked before the moment and has no outcome, whenever it would be due."""
    recovery.make_due(since)
    total = 0
    while looked_up := recovery.resolve_due(BATCH):
        total += looked_up
    return total


def _done(provider: KeepsRecords, since: datetime, until: datetime, progress: Progress) -> Iterator[DoneThere]:
    start = since - OVERLAP
    while start < until:
        end = min(start + SLICE, until)
        # Read before anything is asked: no cursor is open over a call.
        yield from list(provider.done_between(start, end))
        progress(f"worked off what was done until {clock.iso(end)}")
        start = end


def _work_off(name: str, done: DoneThere, summary: Summary) -> SettlementLine | None:
    """Book what was done; return the line of what the provider's report of moved money does not show, if it is left."""
    attempt_id, step = read_reference(done.reference) or (None, None)
    if attempt_id is None:
        return None
    if on_record := Attempt.objects.filter(id=attempt_id, provider=name).first():
        # Money that came late is sent back by the sweeps, which ask for it where it was not.
        if on_record.kind != Attempt.Kind.REVERSE:
            _ask_again(on_record.reference)
        return None
    payment_id, _ = read_reference(done.payment_reference) or (None, None)
    known = Attempt.objects.filter(provider=name, kind=Attempt.Kind.AUTHORIZE)
    payment = known.filter(id=payment_id).first() if payment_id else None
    if payment is None or step is not None:
        return _line(done)
    try:
        attempt = rebuild(payment, attempt_id, done)
    except (Waits, ProviderBusy):
        # The next run comes to it, and the sweep of unknown outcomes to what was inserted.
        summary.waiting += 1
        return None
    except CannotBeBooked as reason:
        logger.warning("cannot be booked", extra={"reference": done.reference, "why": str(reason)})
        return _line(done)
    summary.booked[f"{attempt.kind} {attempt.outcome or attempt.state}"] += 1
    return None


def _ask_again(reference: str) -> None:
    """Ask how an attempt stands that is on record; a busy provider is asked by the sweeps or by the next run."""
    try:
        recovery.apply_report(Report(reference, None))
    except Exception:
        logger.exception("could not be asked again", extra={"attempt": reference})


def _line(done: DoneThere) -> SettlementLine:
    return SettlementLine(
        reference=done.reference,
        provider_ref=done.provider_ref,
        kind=Movement.OTHER,
        amount=done.amount,
        currency=done.currency,
        booked_at=done.done_at,
        word=f"{done.kind}, not known here",
    )


def _reconcile(name: str, since: datetime, until: datetime, lines: list[SettlementLine]) -> None:
    report = runs.provider_report(name, since - OVERLAP, until)
    moved = {line.reference for line in report.lines}
    unseen = [line for line in lines if line.reference not in moved]
    report = runs.SettlementReport(name, [*report.lines, *unseen], report.covers_from, report.covers_to)
    runs.reconcile(report, ReconciliationRun.Origin.COMMAND)


def _ask_about_items(since: datetime) -> None:
    """Ask again about what reports name and we know: the report of a provider without records is a file."""
    asked = _items(since).filter(attempt__isnull=False).exclude(attempt__kind=Attempt.Kind.REVERSE)
    for attempt_id in asked.values_list("attempt_id", flat=True).distinct().iterator():
        _ask_again(attempt_id.hex)
    while runs.recheck_arrived():
        pass


def _items(since: datetime) -> QuerySet[ReconciliationItem]:
    """Return the open differences of movements from the moment on."""
    start = since - OVERLAP
    rows = ReconciliationItem.objects.filter(state=ReconciliationItem.State.OPEN, vanished_at=None)
    return rows.filter(Q(line__booked_at__gte=start) | Q(line=None, posting__created_at__gte=start))


def _left(since: datetime, until: datetime, waiting: int) -> Iterator[str]:
    """Return in words what is left to operators."""
    for provider, kind, count in _items(since).values_list("provider", "kind").annotate(Count("id")).order_by():
        yield f"{provider}, “{ReconciliationItem.Kind(kind).label}”: {count}, under Reconciliation items"
    if unresolved := recovery.unresolved():
        yield f"without an outcome: {unresolved}, under Unknown outcomes"
    if waiting:
        yield f"waiting for another operation on their charge, or for a busy provider: {waiting}; run this again"
    covering = ReconciliationRun.objects.filter(covers_from__lte=since, covers_to__gte=until)
    unread = ProviderAccount.objects.exclude(provider__in=covering.values("provider"))
    for provider in unread.values_list("provider", flat=True).distinct().order_by("provider"):
        yield (
            f"{provider}: its report of this time is not read: reconcile FILE --mapping {provider} "
            f"--from {clock.iso(since)} --to {clock.iso(until)}"
        )
