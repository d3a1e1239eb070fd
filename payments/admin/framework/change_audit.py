"""Audit entries for the admin's own forms, and the history of one object."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import translation

from payments.admin.framework.merchant_access import Policy
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.models import AuditEntry, Merchant

SHOWN_ENTRIES = 100


class Audited(admin.ModelAdmin):
    """A ModelAdmin that writes to the audit log instead of Django's own log."""

    # The fields that lead money or trust elsewhere: their values before and after are recorded, and the inbox has them.
    noticed_fields: Sequence[str] = ()
    policy: Policy
    # Whether the log has who opened the page of a row.
    records_views = False

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        response = super().render_change_form(request, context, *args, **kwargs)
        if self.records_views and self.policy.is_for_operators:
            audit_log.record(Action.VIEWED, kwargs["obj"])
        return response

    def construct_change_message(self, request: HttpRequest, form: Any, formsets: Any, add: bool = False) -> Any:
        """Return the names of the changed fields and inline rows."""
        changed = _changed(form)
        noticed = [name for name in self.noticed_fields if name in changed and not add]
        form.instance.noticed = ", ".join(
            f"{name}: {audit_log.change(form.initial.get(name), form[name].value())}" for name in noticed
        )
        for formset in formsets or ():
            changed += (f"{_called(row)} added" for row in formset.new_objects)
            changed += (f"{_called(row)}: {name}" for row, names in formset.changed_objects for name in names)
            changed += (f"{_called(row)} removed" for row in formset.deleted_objects)
        return changed

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save `obj`, unless nothing of it was changed."""
        if not change or _changed(form):
            super().save_model(request, obj, form, change)

    def log_addition(self, request: HttpRequest, obj: Model, message: Sequence[str]) -> Any:
        notice_of = audit_log.EVERYBODY if self.noticed_fields else None
        audit_log.record(Action.ADDED, obj, detail=self.detail_of(obj), notice_of=notice_of)

    def log_change(self, request: HttpRequest, obj: Model, message: Sequence[str]) -> Any:
        if message:
            noticed = getattr(obj, "noticed", "")
            detail = ", ".join(filter(None, (self.detail_of(obj), noticed)))
            notice_of = (obj.pk if isinstance(obj, Merchant) else audit_log.EVERYBODY) if noticed else None
            audit_log.record(Action.CHANGED, obj, fields=message, detail=detail, notice_of=notice_of)

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        """Do nothing: `delete_model` and `delete_queryset` record deletions themselves."""

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        audit_log.record(Action.DELETED, obj)
        super().delete_model(request, obj)

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        audit_log.record_all(Action.DELETED, queryset)
        super().delete_queryset(request, queryset)

    def detail_of(self, obj: Model) -> str:
        """Return further text for the audit entry of an added or changed row; nothing secret."""
        return ""

    def history_rows(self, obj: Model) -> list[Model]:
        """Return the rows whose audit entries are the history of `obj`."""
        return [obj]

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        obj = self.get_object(request, unquote(object_id))
        if obj is None:
            raise Http404
        if not self.has_view_or_change_permission(request, obj):
            raise PermissionDenied
        page: Any = self
        entries = AuditEntry.objects.about(*self.history_rows(obj)).order_by("-id")[:SHOWN_ENTRIES]
        context = self.admin_site.each_context(request) | {
            "title": f"History: {page.headline(obj)}",
            "opts": self.opts,
            "object": obj,
            "entries": entries,
        }
        return TemplateResponse(request, "admin/payments/auditentry/history.html", context | (extra_context or {}))


def _changed(form: Any) -> list[str]:
    """Return the names of the row's changed fields; the reason of a change is none of them."""
    return [name for name in form.changed_data if name != "reason"]


def _called(row: Model) -> str:
    with translation.override(settings.LANGUAGE_CODE):
        return f"{row._meta.verbose_name} {row}"
