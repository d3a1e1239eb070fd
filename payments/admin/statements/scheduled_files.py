"""Scheduled files: lists that are sent as files, to be paused, sent now and downloaded."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.exceptions import NotRegistered
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments import clock
from payments.admin.framework.actions import Action, Done, Result
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.formats import NOTHING, chip, column, time_column
from payments.admin.framework.object_actions import address_of, operator_of
from payments.admin.lists.schedules import following, lines_of, rights_of
from payments.admin.shown_times import moment_text
from payments.domain.operators import file_schedules
from payments.models import FileSchedule, SentFile
from payments.models.merchants.merchant_access import membership_of
from payments.vault import VaultError, VaultUnavailable

NO_ANSWER = _("The file cannot be opened at the moment. Try again in a moment.")


class OfSchedule(Action):
    """Something done to a schedule by its own person, or, where it `is_for_all`, by all who may have its files."""

    permission = "payments.view_fileschedule"
    for_merchants = True
    form = forms.Form
    is_for_all = False

    def is_offered_to(self, operator: User, row: FileSchedule) -> bool:
        return self.is_for_all or row.view.user_id == operator.pk

    def find(self, page: Any, request: HttpRequest, pk: Any) -> Any:
        row = super().find(page, request, pk)
        if not self.is_offered_to(operator_of(request), row):
            raise Http404
        row.request = request
        return row


class Change(OfSchedule):
    """Gives a schedule in one of `states` new values, unless it was changed meanwhile."""

    asks_nothing = True

    def __init__(self, name: str, label: Any, said: Any, states: str, moment: Callable[[FileSchedule], Any]) -> None:
        super().__init__(name=name, label=label, said=said, states=states, moment=moment)

    def fits(self, row: FileSchedule) -> bool:
        return _state(row) in vars(self)["states"]

    @transaction.atomic
    def do(self, row: FileSchedule, cleaned: dict[str, Any]) -> Done:
        own, due_at = vars(self), vars(self)["moment"](row)
        values = {"due_at": due_at} if self.name == "send_now" else {"due_at": due_at, "next_at": due_at, "stopped": ""}
        if not file_schedules.change(row, self.name.replace("_", " "), **values):
            return gettext("It was changed meanwhile. Look at it again.")
        return str(own["said"])


class Delete(OfSchedule):
    name, label = "delete_schedule", _("Delete the schedule")
    what_happens = _("No further file is sent, and those that were made are deleted. The saved view stays.")

    @transaction.atomic
    def do(self, row: FileSchedule, cleaned: dict[str, Any]) -> Done:
        file_schedules.delete(FileSchedule.objects.filter(pk=row.pk))
        return Result(_("Deleted."), address_of(cleaned["page"], "changelist"))


class Download(OfSchedule):
    name, label, is_for_all = "download", _("Download"), True
    what_happens = _("The audit log has who downloaded it. Files are kept for 30 days.")
    refusals = (VaultError, VaultUnavailable)
    refused_as: Any = dict.fromkeys(refusals, NO_ANSWER)

    def fits(self, row: FileSchedule) -> bool:
        return row.files.exists()

    def form_for(self, row: Any, data: Any) -> forms.Form:
        form, seen = self.form(data), rights_of(row, row.request.user.pk)
        # Who sees other rows now does not get a file of the earlier ones.
        made = row.files.filter(rights=seen).defer("sealed_content").order_by("-id")
        field: Any = forms.ModelChoiceField(made, label=_("File"), empty_label=None)
        field.label_from_instance = lambda file: f"{moment_text(file.created_at)}, {_kilobytes(file.size)}"
        form.fields["file"] = field
        return form

    def do(self, row: Any, cleaned: dict[str, Any]) -> Any:
        file = cleaned["file"]
        detail = f"{row}, {clock.iso(file.created_at)}, scheduled"
        return cleaned["page"].streamed(row.request, lines_of(file), "list", detail)


NOW, PAUSED = _("The file is made now. An e-mail says when it is ready."), _("Paused. No file is made meanwhile.")
ACTS = (
    Download(),
    Change("send_now", _("Send now"), NOW, "active paused stopped", lambda _: clock.now()),
    Change("pause", _("Pause"), PAUSED, "active being made", lambda _: None),
    Change("resume", _("Resume"), _("Resumed."), "paused stopped", lambda row: following(row.view, row.interval)),
    Delete(),
)


def _kilobytes(size: int) -> str:
    """Return a size in bytes as both languages write it."""
    return f"{-(-size // 1024):,} kB"


MARKS = {"being made": "warn", "stopped": "bad", "active": "good", "paused": "quiet"}


def _state(row: FileSchedule) -> str:
    found = (row.due_at != row.next_at, row.stopped, row.next_at, True)
    return next(state for state, is_it in zip(MARKS, found, strict=True) if is_it)


@admin.register(FileSchedule)
class FileScheduleAdmin(BaseAdmin):
    """The schedules that a person made, and those of colleagues whose files they get too."""

    is_exported = False
    for_merchants = "named of_list interval last size next shown_state why for_colleagues"
    row_actions = ACTS
    list_display = ("named", "of_list", "interval", "last", "size", "next", "shown_state")
    list_select_related = ("view__user", "merchant")
    head_columns = ("shown_state",)
    fieldsets = ((None, {"fields": ("of_list", "mode", "interval", "next", "why", "last", "size", "for_colleagues")}),)
    named = column(_("Name"), lambda row: row.view.name)
    last = time_column(_("Last file"), lambda row: row.last and row.last.created_at)
    size = column(_("Size"), lambda row: _kilobytes(row.last.size) if row.last else NOTHING)
    next = time_column(_("Next file"), lambda row: row.next_at)
    shown_state = column(_("State"), lambda row: chip(_state(row), MARKS[_state(row)]))
    why = column(_("Why it has stopped"), lambda row: gettext(row.stopped) if row.stopped else NOTHING)

    @admin.display(description=_("List"))
    def of_list(self, row: FileSchedule) -> str:
        """Return what the list is called; of one that a later version does not have, the name of its model."""
        try:
            return str(self.admin_site.get_model_admin(apps.get_model(row.view.model)).words[1])
        except (LookupError, NotRegistered):
            return row.view.model

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return a person's own schedules on this site, and those for colleagues of lists that they may have."""
        membership, own = membership_of(request.user), Q(view__user=operator_of(request))
        if membership is None:
            return FileSchedule.objects.filter(own, merchant=None)
        seen = [page.opts.label_lower for page in self.admin_site.pages() if page.may_send(request)]
        is_seen = own | Q(for_colleagues=True, view__model__in=seen)
        return FileSchedule.objects.filter(is_seen, merchant=membership.merchant_id)

    def complete(self, rows: Any) -> None:
        super().complete(rows)
        files = SentFile.objects.filter(schedule__in=[row.pk for row in rows]).defer("sealed_content")
        newest = {file.schedule_id: file for file in files.order_by("schedule", "-id").distinct("schedule")}
        for row in rows:
            row.last = newest.get(row.pk)
