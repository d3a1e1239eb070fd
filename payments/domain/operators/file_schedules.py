"""Schedules of files, each change of which the audit log has."""

from django.db import transaction
from django.db.models import QuerySet

from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.models import FileSchedule, Merchant, SavedView


@transaction.atomic
def put(view: SavedView, merchant: Merchant | None, detail: str, **values: object) -> None:
    """Make the schedule of a view, or change the one that it has at the merchant."""
    made, is_new = FileSchedule.objects.update_or_create(view=view, merchant=merchant, defaults=values)
    audit_log.record(Action.ADDED if is_new else Action.CHANGED, made, detail=detail)


@transaction.atomic
def change(schedule: FileSchedule, detail: str, **values: object) -> bool:
    """Change a schedule as it was read; return whether it still was so."""
    same = FileSchedule.objects.filter(pk=schedule.pk, next_at=schedule.next_at, due_at=schedule.due_at)
    if not same.update(**values):
        return False
    audit_log.record(Action.CHANGED, schedule, detail=detail)
    return True


@transaction.atomic
def delete(which: QuerySet[FileSchedule]) -> None:
    """Delete schedules with their files; the lock makes a worker that stores a file come before."""
    for schedule in which.select_for_update(of=("self",)):
        audit_log.record(Action.DELETED, schedule)
        schedule.delete()
