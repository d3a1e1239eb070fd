"""Recovery after a restore to a moment in the past: the providers are asked what happened since.

Each step may run again, also after it was interrupted: what was found before is not booked twice. No step holds a
transaction over a call of a provider. What a provider lists is worked off one by one; one that lists nothing, such as
Adyen, has a report for operators to read in.
"""

from collections.abc import Iterator
from datetime import datetime

from django.db.models import Count, Q, QuerySet

from payments import clock
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.charging import expiry, recovery
from payments.domain.reconciliation import runs
from payments.domain.reconciliation.layouts import LAYOUTS
from payments.domain.reconciliation.summary import KINDS
from payments.domain.restore.records import OVERLAP, Progress, Records, Summary, ask_again
from payments.models import Attempt, ProviderAccount, ReconciliationItem, ReconciliationRun, ReportLine
from payments.providers import registry
from payments.providers.settlement_reports import Reporting, SettlementLine

BATCH = 100


def recover(since: datetime, until: datetime, progress: Progress = lambda _: None) -> Summary:
    """Ask every provider what it did from `since` to before `until`, and book it or leave it to operators.

    Raises runs.Busy where a reconciliation is under way: run it again.
    """
    audit_log.record(Action.LOOKED_UP, detail=f"what providers did from {clock.iso(since)} to {clock.iso(until)}")
    # A charge that we lost may have used one: a retry under its idempotency key must not take the money again.
    summary = Summary(closed_sources=expiry.destroy_numbers_from_before(since))
    progress(f"closed {summary.closed_sources} unused cards")
    summary.looked_up = _look_up(since)
    progress(f"looked up {summary.looked_up} operations without an outcome")
    records = Records(since, until, summary, progress)
    for name, provider in registry.PROVIDERS.items():
        if isinstance(provider, Reporting):
            _reconcile(name, since, until, list(records.work_off(name, provider)))
    for name, lines in records.work_off_accounts().items():
        # Some movements are a report that is complete for no time.
        unseen = [line for line in lines if not _is_reported(name, line)]
        runs.reconcile(runs.SettlementReport(name, unseen, since, since), ReconciliationRun.Origin.COMMAND)
    _ask_about_items(since)
    summary.left = list(_left(since, until, summary))
    return summary


def _look_up(since: datetime) -> int:
    """Look up once what was asked before the moment and has no outcome, whenever it would be due."""
    recovery.make_due(since)
    total = 0
    while looked_up := recovery.resolve_due(BATCH):
        total += looked_up
    return total


def _reconcile(name: str, since: datetime, until: datetime, lines: list[SettlementLine]) -> None:
    report = runs.provider_report(name, since - OVERLAP, until)
    moved = {line.reference for line in report.lines}
    unseen = [line for line in lines if line.reference not in moved]
    report = runs.SettlementReport(name, [*report.lines, *unseen], report.covers_from, report.covers_to)
    runs.reconcile(report, ReconciliationRun.Origin.COMMAND)


def _is_reported(name: str, line: SettlementLine) -> bool:
    same = ReportLine.objects.filter(provider=name, reference=line.reference, kind=line.kind, amount=line.amount)
    return same.exists()


def _ask_about_items(since: datetime) -> None:
    """Ask again about what reports name and we know: the report of a provider without records is a file."""
    asked = _items(since).filter(attempt__isnull=False).exclude(attempt__kind=Attempt.Kind.REVERSE)
    for attempt_id in asked.values_list("attempt_id", flat=True).distinct():
        ask_again(attempt_id.hex)
    while runs.recheck_arrived():
        pass


def _items(since: datetime) -> QuerySet[ReconciliationItem]:
    """Return the open differences of movements from the moment on."""
    start = since - OVERLAP
    rows = ReconciliationItem.objects.filter(state=ReconciliationItem.State.OPEN, vanished_at=None)
    unread = Q(kind=ReconciliationItem.Kind.UNREAD, created_at__gte=start)
    return rows.filter(Q(line__booked_at__gte=start) | Q(line=None, posting__created_at__gte=start) | unread)


def _left(since: datetime, until: datetime, summary: Summary) -> Iterator[str]:
    """Return in words what is left to operators."""
    for provider, kind, count in _items(since).values_list("provider", "kind").annotate(Count("id")).order_by():
        yield f"{provider}, “{KINDS.get(kind, kind)}”: {count}, under Reconciliation items"
    if unresolved := recovery.unresolved():
        yield f"without an outcome: {unresolved}, under Unknown outcomes"
    if summary.waiting:
        yield f"waiting for an operation on their charge, or for a busy provider: {summary.waiting}; run this again"
    yield from summary.unlisted
    covering = ReconciliationRun.objects.filter(covers_from__lte=since, covers_to__gte=until)
    unread = ProviderAccount.objects.filter(livemode=True).exclude(provider__in=covering.values("provider"))
    unread = unread.exclude(provider__in=registry.keep_records())
    for provider in unread.values_list("provider", flat=True).distinct().order_by("provider"):
        report = LAYOUTS[provider].title if provider in LAYOUTS else "report"
        yield (
            f"{provider}: it lists nothing when asked, and its {report} of this time is not read: reconcile FILE "
            f"--mapping {provider} --from {clock.iso(since)} --to {clock.iso(until)}"
        )
