"""Reconciliation runs: a report is stored and matched, and its differences are found, in one transaction."""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, time, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, OuterRef

from payments import clock
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.reconciliation import matcher
from payments.domain.reconciliation.bank import bank_files, line_matcher
from payments.domain.reconciliation.bank.statements import ReadStatement
from payments.domain.reconciliation.files import BadReport
from payments.domain.reconciliation.layouts import Layout
from payments.models import FileLayout, OwnBankAccount, ReconciliationItem, ReconciliationRun, ReportLine
from payments.providers.registry import provider_named
from payments.providers.settlement_reports import Movement, Reporting, SettlementLine

logger = logging.getLogger("kaha.reconciliation")

BATCH_LINES = 5_000
MANY_LINES = 1_000
RECHECKED_AT_ONCE = 500
# The members by which lines differ.
MEMBERS = tuple(field.name for field in fields(SettlementLine) if field.compare)
Progress = Callable[[int, int], None]


class Busy(Exception):
    """Another run of the same provider has not ended; nothing was changed."""


@dataclass(frozen=True)
class SettlementReport:
    """The movements of a provider from `covers_from` (None: from the beginning) to before `covers_to`.

    Where both are the same, the report is complete for no period. A bank's are those of `account`, in `statements`.
    """

    provider: str
    lines: Sequence[SettlementLine]
    covers_from: datetime | None
    covers_to: datetime
    file: str = ""
    # What read the file, if no fixed format did.
    layout: FileLayout | None = None
    account: OwnBankAccount | None = None
    statements: Sequence[ReadStatement] = ()


def bank_report(statements: Sequence[ReadStatement], account: OwnBankAccount, name: str) -> SettlementReport:
    """Return the report of a bank's file `name` with these statements of an account."""
    lines = [line for each in statements for line in each.lines]
    now = clock.now()
    return SettlementReport(account.name, lines, now, now, name, account=account, statements=statements)


def report_of(
    lines: Sequence[SettlementLine], layout: Layout, since: datetime | None, until: datetime | None, name: str
) -> SettlementReport:
    """Return the report of `lines` in the file `name`. It covers their days, unless `since` or `until` move an end.

    Where the layout covers no days, the report covers a period only if both are given. Raises BadReport.
    """
    booked = [line.booked_at.astimezone(layout.zone) for line in lines if line.booked_at]
    if layout.covers_days and not booked and not (since and until):
        raise BadReport("it has no lines; give the period that it covers")
    now = clock.now()
    covers_to = min(until or (_midnight(max(booked) + timedelta(days=1)) if booked else now), now)
    covers_from = since or (_midnight(min(booked)) if booked else covers_to)
    if not layout.covers_days and not (since and until):
        covers_from = covers_to
    return SettlementReport(layout.provider, lines, covers_from, covers_to, name)


def provider_report(provider: str, since: datetime | None = None, until: datetime | None = None) -> SettlementReport:
    """Return the report of a provider's connector; by default from the end of the last run until now.

    Raises BadReport for a connector without reports.
    """
    covers_from = since
    last = ReconciliationRun.objects.filter(provider=provider).order_by("covers_to").last()
    if not covers_from and last:
        # A movement that was being booked at that moment may have become visible only after it.
        covers_from = last.covers_to - _margin()
    covers_to = min(until or clock.now(), clock.now())
    return SettlementReport(provider, list(provider_lines(provider, covers_from, covers_to)), covers_from, covers_to)


def provider_lines(provider: str, since: datetime | None, until: datetime) -> Iterator[SettlementLine]:
    """Return the provider's movements from `since` (None: from the beginning) to before `until`. Raises BadReport."""
    connector = provider_named(provider)
    if not isinstance(connector, Reporting):
        raise BadReport("its connector has no reports; give a file")
    return connector.settlement_lines(since, until)


def reconcile(
    report: SettlementReport,
    started_by: str,
    progress: Progress | None = None,
    finish: Callable[[ReconciliationRun], None] = lambda _: None,
) -> ReconciliationRun:
    """Store the new lines of `report`, match them, and create an item for each difference; return the run.

    It corrects nothing. `progress` is called with the number of stored lines and of all, and `finish` with the run in
    its transaction. Raises Busy, and BadReport
    for a period that is in the future or ends before it begins.
    """
    if report.covers_from and report.covers_from > report.covers_to:
        raise BadReport("the period that it covers must have begun, and not end before it begins")
    lines = list(_numbered(report.lines))
    with transaction.atomic():
        if not matcher.lock(line_matcher.ACCOUNTS if report.account else report.provider):
            raise Busy
        run = ReconciliationRun.objects.create(
            provider=report.provider,
            started_by=started_by,
            file=report.file,
            layout=report.layout,
            covers_from=report.covers_from,
            covers_to=report.covers_to,
            lines=len(lines),
        )
        run.new_lines = _store(run, lines, progress)
        now = clock.now()
        if report.account:
            bank_files.keep(run, report.account, report.statements)
            if run.new_lines > MANY_LINES:
                # Nobody has analyzed them yet: the planner would compare each with each.
                matcher.execute("SET LOCAL enable_nestloop = off", {})
            run.new_items = line_matcher.match(report.account, run, now)
        else:
            matcher.match(run, now)
            run.new_items = matcher.find_differences(run, now, _margin())
        _count(run, lines)
        if started_by == ReconciliationRun.Origin.COMMAND:
            audit_log.record(Action.ADDED, run, detail=f"{run.lines} lines, {run.new_lines} of them new")
        finish(run)
    logger.info("reconciled", extra={"provider": run.provider, "lines": run.lines, "differences": run.differences})
    return run


def recheck_arrived() -> int:
    """Match lines whose movement was posted after their item said "not in ledger"; return how many charges.

    Movements on our bank accounts are matched again too, while an item of theirs is open.
    """
    checked = 0
    for provider, charges in matcher.arrived(RECHECKED_AT_ONCE, clock.now()):
        with transaction.atomic():
            run = ReconciliationRun.objects.filter(provider=provider).order_by("covers_to").last()
            # Another run looks at everything anyway.
            if run and matcher.lock(provider if charges else line_matcher.ACCOUNTS):
                now = clock.now()
                if not charges:
                    line_matcher.match(OwnBankAccount.objects.get(name=provider), run, now)
                    left = ReconciliationItem.objects.filter(provider=provider, state="open", vanished_at=None)
                    left.filter(pk=left.order_by("pk").values("pk")[:1]).update(rechecked_at=now)
                    continue
                matcher.match(run, now, charges)
                matcher.find_differences(run, now, _margin(), charges)
                matcher.mark_rechecked(provider, charges, now)
                checked += len(charges)
    return checked


def reconcile_today(provider: str = "simulator") -> bool:
    """Reconcile the provider's report unless a worker did since midnight; return whether it ran."""
    today = _midnight(clock.now())
    done = ReconciliationRun.objects.filter(
        provider=provider, started_by=ReconciliationRun.Origin.WORKER, created_at__gte=today
    )
    if done.exists():
        return False
    reconcile(provider_report(provider), ReconciliationRun.Origin.WORKER)
    return True


def _numbered(lines: Sequence[SettlementLine]) -> Iterator[SettlementLine]:
    """Yield the lines, equal ones numbered: a provider may book the same correction twice in one second."""
    seen = Counter[SettlementLine]()
    for line in lines:
        seen[line] += 1
        yield replace(line, nth=seen[line]) if seen[line] > 1 else line


def _store(run: ReconciliationRun, lines: Sequence[SettlementLine], progress: Progress | None) -> int:
    new = 0
    for start in range(0, len(lines), BATCH_LINES):
        new += matcher.store(run, lines[start : start + BATCH_LINES], start)
        if progress:
            progress(min(start + BATCH_LINES, len(lines)), len(lines))
    return new


def _count(run: ReconciliationRun, lines: Sequence[SettlementLine]) -> None:
    items = ReconciliationItem.objects.filter(vanished_at=None)
    unmatched = ReportLine.objects.filter(provider=run.provider, matched_at=None)
    rows = unmatched.annotate(differs=Exists(items.filter(line=OuterRef("pk")))).values_list(*MEMBERS, "differs")
    left = {
        SettlementLine(reference, provider_ref, Movement(kind), *others): differs
        for reference, provider_ref, kind, *others, differs in rows
    }
    unmatched_lines = [line for line in lines if line in left]
    run.matched = len(lines) - len(unmatched_lines)
    run.under_way = sum(not left[line] for line in unmatched_lines)
    open_items = items.filter(provider=run.provider, state=ReconciliationItem.State.OPEN)
    run.differences = dict(open_items.values_list("kind").annotate(Count("id")).order_by("kind"))
    run.save()


def _margin() -> timedelta:
    return timedelta(minutes=settings.RECONCILIATION_MARGIN_MINUTES)


def _midnight(moment: datetime) -> datetime:
    return datetime.combine(moment.date(), time(), moment.tzinfo)
