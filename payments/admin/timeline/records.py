"""The rows about one charge: the newest of each sort, read once, by an index."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db.models import Count, Model, Q, QuerySet, Window

from payments.domain.audit.audit_log import Action
from payments.models import (
    Attempt,
    AuditEntry,
    Charge,
    Correction,
    Dispute,
    Event,
    OperatorAction,
    PageVisit,
    Posting,
    ProviderEvent,
    ReconciliationItem,
    Refund,
    ReportLine,
    Webhook,
    WebhookAttempt,
)
from payments.models.operators.audit import type_of
from payments.providers.references import FollowUp, reference_of

# The most rows of each sort on one page.
MOST = 100
VIEW_ACTIONS = (Action.VIEWED, Action.EXPORTED)


class Records:
    """The rows about `charge`; `more` counts by sort the older ones that are left out."""

    def __init__(self, charge: Charge) -> None:
        self.charge = charge
        self.more: dict[str, int] = {}

    @cached_property
    def refunds(self) -> list[Refund]:
        return self._newest("refunds", self.charge.refunds.all())

    @cached_property
    def disputes(self) -> list[Dispute]:
        return self._newest("disputes", self.charge.disputes.all()) if self.charge.disputed else []

    @cached_property
    def events(self) -> list[Event]:
        of_these = [self.charge.pk, *_keys(self.refunds), *_keys(self.disputes)]
        return self._newest("changes", Event.objects.filter(object_id__in=of_these).select_related("api_key"))

    @cached_property
    def attempts(self) -> list[Attempt]:
        return self._newest("provider exchanges", self.charge.attempts.select_related("api_key"))

    @cached_property
    def provider_events(self) -> list[ProviderEvent]:
        """Return the providers' events about the charge's attempts and its payment."""
        accounts = {attempt.account_id for attempt in self.attempts if attempt.account_id}
        names = [attempt.reference for attempt in self.attempts]
        names += [reference_of(attempt.pk, step) for attempt in self.attempts for step in FollowUp]
        theirs = [attempt.provider_ref for attempt in self.attempts if attempt.provider_ref]
        about = Q(reference__in=names) | Q(payment__in=[*names, *theirs])
        found = ProviderEvent.objects.filter(about, account__in=accounts)
        return self._newest("provider events", found.select_related("message", "account", "closed_by"))

    @cached_property
    def visits(self) -> list[PageVisit]:
        return self._newest("page visits", self.charge.page_visits.all())

    @cached_property
    def webhooks(self) -> dict[UUID, Webhook]:
        found = Webhook.objects.filter(event__in=_keys(self.events))
        return {row.pk: row for row in self._newest("webhooks", found)}

    @cached_property
    def tries(self) -> list[WebhookAttempt]:
        return self._newest("webhook attempts", WebhookAttempt.objects.filter(webhook__in=list(self.webhooks)))

    @cached_property
    def postings(self) -> list[Posting]:
        return self._newest("postings", self.charge.postings.select_related("settlement"))

    @cached_property
    def report_lines(self) -> list[ReportLine]:
        found = ReportLine.objects.filter(posting__in=_keys(self.postings)).select_related("run")
        return self._newest("report lines", found)

    @cached_property
    def differences(self) -> list[ReconciliationItem]:
        found = ReconciliationItem.objects.filter(charge=self.charge).select_related("line", "posting")
        return self._newest("differences", found)

    @cached_property
    def corrections(self) -> list[Correction]:
        return self._newest("corrections", Correction.objects.filter(charge=self.charge))

    @cached_property
    def operator_actions(self) -> list[OperatorAction]:
        return self._newest("operator actions", OperatorAction.objects.filter(charge=self.charge))

    @cached_property
    def staff_entries(self) -> list[AuditEntry]:
        """Return what staff did about any of these rows, without views."""
        rows: list[Model] = [self.charge, *self.refunds, *self.attempts, *self.webhooks.values()]
        rows += [*self.corrections, *self.operator_actions, *(event.message for event in self.provider_events)]
        # IDs are unique across all tables, except those of differences.
        numbered = Q(object_type=type_of(ReconciliationItem()), object_id__in=_texts(self.differences))
        found = AuditEntry.objects.filter(Q(object_id__in=_texts(rows)) | numbered)
        return self._newest("staff actions", found.exclude(action__in=VIEW_ACTIONS))

    @cached_property
    def views(self) -> list[AuditEntry]:
        found = AuditEntry.objects.about(self.charge).filter(action__in=VIEW_ACTIONS)
        return self._newest("views", found)

    def _newest(self, sort: str, rows: QuerySet[Any]) -> list[Any]:
        """Return the newest rows, oldest first."""
        found = list(rows.annotate(in_all=Window(Count("*"))).order_by("-pk")[:MOST])
        if found and found[0].in_all > len(found):
            self.more[sort] = found[0].in_all - len(found)
        return found[::-1]


def _keys(rows: Iterable[Model]) -> list[Any]:
    return [row.pk for row in rows]


def _texts(rows: Iterable[Model]) -> list[str]:
    return [str(row.pk) for row in rows]
