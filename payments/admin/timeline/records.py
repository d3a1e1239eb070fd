"""The rows about one charge, or another object with events: the newest of each sort, read once, by an index."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
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
    PayerMessage,
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


class EventRecords:
    """The events of `row`, their webhooks, and what staff did; `more` counts by sort the older ones that are left out.

    A subclass adds the other rows that it is about.
    """

    def __init__(self, row: Any) -> None:
        self.row = row
        self.more: dict[str, int] = {}

    @property
    def rows(self) -> list[Model]:
        """Return the rows whose events and staff actions are of interest."""
        return [self.row]

    @cached_property
    def events(self) -> list[Event]:
        found = Event.objects.filter(object_id__in=_keys(self.rows))
        return self.newest("changes", found.select_related("api_key"))

    @cached_property
    def webhooks(self) -> dict[UUID, Webhook]:
        found = Webhook.objects.filter(event__in=_keys(self.events))
        return {row.pk: row for row in self.newest("webhooks", found)}

    @cached_property
    def tries(self) -> list[WebhookAttempt]:
        return self.newest("webhook attempts", WebhookAttempt.objects.filter(webhook__in=list(self.webhooks)))

    @cached_property
    def staff_entries(self) -> list[AuditEntry]:
        """Return what staff did about any of these rows, without views."""
        return self.entries_about(Q(object_id__in=_texts([*self.rows, *self.webhooks.values()])))

    def entries_about(self, condition: Q) -> list[AuditEntry]:
        """Return what staff did about the rows of `condition`, without views."""
        return self.newest("staff actions", AuditEntry.objects.filter(condition).exclude(action__in=VIEW_ACTIONS))

    @cached_property
    def views(self) -> list[AuditEntry]:
        found = AuditEntry.objects.about(self.row).filter(action__in=VIEW_ACTIONS)
        return self.newest("views", found)

    def newest(self, sort: str, rows: QuerySet[Any]) -> list[Any]:
        """Return the newest rows, oldest first."""
        found = list(rows.annotate(in_all=Window(Count("*"))).order_by("-pk")[:MOST])
        if found and found[0].in_all > len(found):
            self.more[sort] = found[0].in_all - len(found)
        return found[::-1]


class Records(EventRecords):
    """The rows about a charge."""

    @property
    def charge(self) -> Charge:
        charge: Charge = self.row
        return charge

    @property
    def rows(self) -> list[Model]:
        return [self.charge, *self.refunds, *self.disputes]

    @cached_property
    def refunds(self) -> list[Refund]:
        return self.newest("refunds", self.charge.refunds.all())

    @cached_property
    def disputes(self) -> list[Dispute]:
        return self.newest("disputes", self.charge.disputes.all()) if self.charge.disputed else []

    @cached_property
    def attempts(self) -> list[Attempt]:
        return self.newest("provider exchanges", self.charge.attempts.select_related("api_key"))

    @cached_property
    def provider_events(self) -> list[ProviderEvent]:
        """Return the providers' events about the charge's attempts and its payment."""
        accounts = {attempt.account_id for attempt in self.attempts if attempt.account_id}
        names = [attempt.reference for attempt in self.attempts]
        names += [reference_of(attempt.pk, step) for attempt in self.attempts for step in FollowUp]
        theirs = [attempt.provider_ref for attempt in self.attempts if attempt.provider_ref]
        about = Q(reference__in=names) | Q(payment__in=[*names, *theirs])
        found = ProviderEvent.objects.filter(about, account__in=accounts)
        return self.newest("provider events", found.select_related("message", "account", "closed_by"))

    @cached_property
    def visits(self) -> list[PageVisit]:
        return self.newest("page visits", self.charge.page_visits.all())

    @cached_property
    def messages(self) -> list[PayerMessage]:
        """Return the messages to the payer about the charge and its refunds."""
        about = [self.charge.pk, *_keys(self.refunds)]
        found = PayerMessage.objects.filter(merchant_id=self.charge.merchant_id, about_id__in=about)
        return self.newest("messages to the payer", found)

    @cached_property
    def postings(self) -> list[Posting]:
        return self.newest("postings", self.charge.postings.select_related("settlement"))

    @cached_property
    def report_lines(self) -> list[ReportLine]:
        found = ReportLine.objects.filter(posting__in=_keys(self.postings)).select_related("run")
        return self.newest("report lines", found)

    @cached_property
    def differences(self) -> list[ReconciliationItem]:
        found = ReconciliationItem.objects.filter(charge=self.charge).select_related("line", "posting")
        return self.newest("differences", found)

    @cached_property
    def corrections(self) -> list[Correction]:
        return self.newest("corrections", Correction.objects.filter(charge=self.charge))

    @cached_property
    def operator_actions(self) -> list[OperatorAction]:
        return self.newest("actions", OperatorAction.objects.filter(charge=self.charge))

    @cached_property
    def proposers(self) -> dict[int, User]:
        """Return those who proposed actions, by their keys; merchants' people do not see operators."""
        return User.objects.in_bulk({act.proposed_by_id for act in self.operator_actions})

    @cached_property
    def staff_entries(self) -> list[AuditEntry]:
        """Return what staff did about any of these rows, without views."""
        rows: list[Model] = [self.charge, *self.refunds, *self.attempts, *self.webhooks.values()]
        rows += [*self.corrections, *self.operator_actions, *(event.message for event in self.provider_events)]
        # IDs are unique across all tables, except those of differences.
        numbered = Q(object_type=type_of(ReconciliationItem()), object_id__in=_texts(self.differences))
        return self.entries_about(Q(object_id__in=_texts(rows)) | numbered)


def _keys(rows: Iterable[Model]) -> list[Any]:
    return [row.pk for row in rows]


def _texts(rows: Iterable[Model]) -> list[str]:
    return [str(row.pk) for row in rows]
