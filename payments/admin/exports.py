"""Exports: their progress and files, each for the operator who requested it."""

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.defaultfilters import filesizeformat
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.views.decorators.http import require_POST

from payments.admin.framework.base import LookOnlyAdmin
from payments.admin.framework.formats import NOTHING, chip, column
from payments.admin.framework.object_actions import ActionButton, operator_of
from payments.domain import exports
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.models import Export

MAY_EXPORT = "payments.add_export"


@admin.register(Export)
class ExportAdmin(LookOnlyAdmin):
    # An export is nobody's but the operator's, who sees no others, and has what they may see in it.
    merchant_lookup = None
    change_form_template = "admin/payments/export/change_form.html"
    list_display = ("created", "sheet", "shown_state", "progress", "shown_size", "expires")
    fieldsets = (
        (None, {"fields": ("sheet", "narrowed_to", "shown_state", "progress", "shown_size")}),
        ("Times", {"fields": ("created", "updated", "expires")}),
    )
    shown_state = column("State", lambda export: chip(export.state))
    shown_size = column("Size", lambda export: filesizeformat(export.size) if export.size else NOTHING)
    narrowed_to = column("Filters", lambda export: narrowed(export))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return Export.objects.filter(operator=operator_of(request))

    def _is_for(self, request: HttpRequest) -> bool:
        return True

    def get_urls(self) -> list[URLPattern]:
        shown = self.admin_site.admin_view
        ours = [
            path("<uuid:pk>/download/", shown(self.download), name="payments_export_download"),
            path("ask/", shown(self.ask), name="payments_export_ask"),
        ]
        return [*ours, *super().get_urls()]

    def buttons_of(self, request: HttpRequest, row: Export) -> list[ActionButton]:
        address = reverse("admin:payments_export_download", args=[row.pk])
        return [ActionButton("Download", address)] if row.state == Export.State.DONE else []

    @method_decorator(require_POST)
    def ask(self, request: HttpRequest) -> HttpResponseBase:
        """Request an export of the list that the operator sees."""
        sheet = request.POST.get("sheet", "")
        if not operator_of(request).has_perm(MAY_EXPORT) or sheet not in exports.SHEETS:
            raise PermissionDenied
        try:
            export = exports.request_export(sheet, request.POST.get("query", ""), operator_of(request))
        except exports.NotAllowed as error:
            raise PermissionDenied from error
        except exports.TooMany:
            self.message_user(request, "Wait until your other exports are done.", messages.ERROR)
            return redirect("admin:payments_export_changelist")
        return redirect("admin:payments_export_change", export.pk)

    def download(self, request: HttpRequest, pk: UUID) -> HttpResponseBase:
        """Stream the file and record the download."""
        if not operator_of(request).has_perm(MAY_EXPORT):
            raise PermissionDenied
        export = get_object_or_404(self.get_queryset(request), pk=pk, state=Export.State.DONE)
        audit_log.record(Action.EXPORTED, export, detail=f"{export.rows} rows of {export.sheet}, {narrowed(export)}")
        headers = {"Content-Disposition": f'attachment; filename="{export.sheet}-{export.created_at:%Y%m%d-%H%M}.csv"'}
        content = exports.content_of(export)
        return StreamingHttpResponse(content, content_type="text/csv; charset=utf-8", headers=headers)

    @admin.display(description="Rows")
    def progress(self, export: Export) -> str:
        of = "" if export.state == Export.State.DONE else f" of about {max(export.expected_rows, export.rows):,}"
        return f"{export.rows:,}{of}"


def narrowed(export: Export) -> str:
    """Return the filters of an export as its address has them."""
    return export.query or "all"
