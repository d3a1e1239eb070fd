"""Cases: operators assign, tag and note charges, unknown outcomes and reconciliation items."""

from collections.abc import Sequence
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet

from payments import clock
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.models import Attempt, Case, Charge, Note, ReconciliationItem
from payments.models.merchants.merchant_access import WORKS_FOR_ALL

NOTES_MAX = 100
Subject = Charge | Attempt | ReconciliationItem


class CaseFull(Exception):
    """An error: the case has as many notes as a case may have."""


def case_of(subject: Subject) -> Case | None:
    """Return the case of `subject`, if operators have made one."""
    return Case.objects.filter(**_about(subject)).select_related("assignee").first()


@transaction.atomic
def work_on(subject: Subject, author: User, note: str, assignee: User | None, tags: Sequence[str]) -> list[str]:
    """Add `note` unless it is empty, and set assignee and tags; return the names of what changed.

    Each change is in the audit log. Raise CaseFull if the case has NOTES_MAX notes.
    """
    known = case_of(subject) or Case()
    if not note and (known.assignee, known.tags) == (assignee, list(tags)):
        return []
    Case.objects.get_or_create(**_about(subject), defaults={"merchant_id": _merchant_id(subject)})
    case = Case.objects.select_for_update().get(**_about(subject))
    changed = {name: new for name, new in (("assignee", assignee), ("tags", list(tags))) if getattr(case, name) != new}
    for name, value in changed.items():
        setattr(case, name, value)
        text = ", ".join(value) if isinstance(value, list) else str(value or "")
        audit_log.record(Action.CHANGED, subject, fields=[name], detail=text or "none")
    if note:
        if case.notes.count() >= NOTES_MAX:
            raise CaseFull(f"A case has at most {NOTES_MAX} notes.")
        Note.objects.create(case=case, author=author, text=note)
        audit_log.record(Action.CHANGED, subject, fields=["notes"], detail=note)
    names = [*changed, *(["notes"] if note else [])]
    if names:
        case.updated_at = clock.now()
        case.save()
    return names


def possible_assignees(subject: Subject) -> QuerySet[User]:
    """Return the active operators who may see `subject`."""
    app_label, _, codename = WORKS_FOR_ALL.partition(".")
    for_all = Q(groups__permissions__codename=codename, groups__permissions__content_type__app_label=app_label)
    may_see = Q(is_superuser=True) | for_all | Q(merchant_access__merchant=_merchant_id(subject))
    return User.objects.filter(may_see, is_active=True, is_staff=True).distinct().order_by("username")


def _about(subject: Subject) -> dict[str, Subject]:
    names = {Charge: "charge", ReconciliationItem: "item"}
    return {names.get(type(subject), "attempt"): subject}


def _merchant_id(subject: Subject) -> UUID | None:
    charge = subject if isinstance(subject, Charge) else subject.charge
    return charge.merchant_id if charge else None
