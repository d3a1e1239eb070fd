"""One run: a report is stored, matched and its differences found, all in one transaction."""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, OuterRef

from payments import clock
from payments.domain.reconciliation import files, matching
from payments.domain.reconciliation.files import BadReport
from payments.domain.reconciliation.mappings import Layout
from payments.models import ReconciliationItem, ReconciliationRun, ReportLine
from payments.providers.registry import provider_named
from payments.providers.settlement_reports import Movement, Reporting, SettlementLine

logger = logging.getLogger("kaha.reconciliation")

BATCH_LINES = 5_000
MEMBERS = tuple(field.name for field in fields(SettlementLine))
Progress = Callable[[int, int], None]


class Busy(Exception):
    """Another run of the same provider is under way; nothing was changed."""


@dataclass(frozen=True)
class SettlementReport:
    """All that a provider says it moved from `covers_from` (None: ever) to before `covers_to`.

    Where both are the same, there is no time of which it says all.
    """

    provider: str
    lines: Sequence[SettlementLine]
    covers_from: datetime | None
    covers_to: datetime
    file: str = ""


def report_in(path: Path, layout: Layout, since: datetime | None, until: datetime | None) -> SettlementReport:
    """The report in a file, which covers whole days from its first line's to its last line's unless told otherwise.

    One that says only what it says covers no time, unless both ends are told.

    Raises BadReport.
    """
    lines = files.read(path, layout)
    if not lines and not (since and until):
        raise BadReport("it has no lines; say which time it covers")
    booked = [line.booked_at.astimezone(layout.zone) for line in lines]
    covers_from = since or _midnight(min(booked))
    covers_to = min(until or _midnight(max(booked) + timedelta(days=1)), clock.now())
    if not layout.covers_days and not (since and until):
        covers_from = covers_to
    return SettlementReport(layout.provider, lines, covers_from, covers_to, path.name)


def report_of(provider: str, since: datetime | None = None, until: datetime | None = None) -> SettlementReport:
    """The report that a provider's connector hands over: since the last one, unless told otherwise, and until now.

    Raises BadReport for a connector that hands none over.
    """
    covers_from = since or _where_the_last_ended(provider)
    covers_to = min(until or clock.now(), clock.now())
    return SettlementReport(provider, list(lines_of(provider, covers_from, covers_to)), covers_from, covers_to)


def lines_of(provider: str, since: datetime | None, until: datetime) -> Iterator[SettlementLine]:
    """What the provider itself says that it moved from `since` (None: ever) to before `until`. Raises BadReport."""
    connector = provider_named(provider)
    if not isinstance(connector, Reporting):
        raise BadReport("it hands no report over; give its file")
    return connector.settlement_lines(since, until)


def tell_nobody(done: int, of: int) -> None:
    """For whoever shows no progress."""


def reconcile(report: SettlementReport, started_by: str, progress: Progress = tell_nobody) -> ReconciliationRun:
    """Stores what is new in `report`, matches it, and makes an item of each difference; changes nothing else.

    Raises Busy, and BadReport for a report of a time that ends before it begins. `progress` hears how many lines of how
    many are stored.
    """
    if report.covers_from and report.covers_from > report.covers_to:
        raise BadReport("the time that it covers must have begun, and not end before it begins")
    with transaction.atomic():
        if not matching.lock(report.provider):
            raise Busy
        run = _begin(report, started_by)
        run.new_lines = _store(run, report.lines, progress)
        now = clock.now()
        matching.match(run, now)
        run.new_items = matching.find_differences(run, now, _margin())
        _count(run, report.lines)
    logger.info("reconciled", extra={"provider": run.provider, "lines": run.lines, "differences": run.differences})
    return run


def reconcile_today(provider: str) -> bool:
    """Takes the provider's report unless a worker did since midnight; whether there was something to do."""
    today = _midnight(clock.now())
    done = ReconciliationRun.objects.filter(
        provider=provider, started_by=ReconciliationRun.Origin.WORKER, created_at__gte=today
    )
    if done.exists():
        return False
    reconcile(report_of(provider), ReconciliationRun.Origin.WORKER)
    return True


def _begin(report: SettlementReport, started_by: str) -> ReconciliationRun:
    return ReconciliationRun.objects.create(
        provider=report.provider,
        started_by=started_by,
        file=report.file,
        covers_from=report.covers_from,
        covers_to=report.covers_to,
        lines=len(report.lines),
    )


def _store(run: ReconciliationRun, lines: Sequence[SettlementLine], progress: Progress) -> int:
    new = 0
    for start in range(0, len(lines), BATCH_LINES):
        new += matching.store(run, lines[start : start + BATCH_LINES], start)
        progress(min(start + BATCH_LINES, len(lines)), len(lines))
    return new


def _count(run: ReconciliationRun, lines: Sequence[SettlementLine]) -> None:
    standing = ReconciliationItem.objects.filter(vanished_at=None)
    unmatched = ReportLine.objects.filter(provider=run.provider, matched_at=None)
    rows = unmatched.annotate(differs=Exists(standing.filter(line=OuterRef("pk")))).values_list(*MEMBERS, "differs")
    left = {_as_reported(members): differs for *members, differs in rows.iterator()}
    unmatched_lines = [line for line in lines if line in left]
    run.matched = len(lines) - len(unmatched_lines)
    run.under_way = sum(not left[line] for line in unmatched_lines)
    open_ones = standing.filter(provider=run.provider, state=ReconciliationItem.State.OPEN)
    run.differences = dict(open_ones.values_list("kind").annotate(Count("id")).order_by("kind"))
    run.save()


def _as_reported(members: list[Any]) -> SettlementLine:
    reference, provider_ref, kind, *others = members
    return SettlementLine(reference, provider_ref, Movement(kind), *others)


def _where_the_last_ended(provider: str) -> datetime | None:
    last = ReconciliationRun.objects.filter(provider=provider).order_by("covers_to").last()
    # What was being booked at that moment may have come to light only after it.
    return last.covers_to - _margin() if last else None


def _margin() -> timedelta:
    return timedelta(minutes=settings.RECONCILIATION_MARGIN_MINUTES)


def _midnight(moment: datetime) -> datetime:
    return datetime.combine(moment.date(), time(), moment.tzinfo)
