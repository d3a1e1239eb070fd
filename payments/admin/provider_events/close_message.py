"""Closing a report that needs attention, on the page of the webhook that brought it."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse

from payments.admin.framework.formats import utc
from payments.admin.framework.object_actions import Act, form_page, operator_of
from payments.admin.framework.reason_form import reason_field
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.provider_events import attention
from payments.models import Webhook, WebhookReport

MAY_CLOSE = "payments.close_webhookreport"
State = WebhookReport.State


class ClosingForm(forms.Form):
    """Which of the reports that need attention, and why it needs none any more."""

    report = forms.ModelChoiceField(
        WebhookReport.objects.none(), empty_label=None, widget=forms.RadioSelect(attrs={"class": "radiolist"})
    )
    note = reason_field("What it was and what was done about it, such as a ticket. No card numbers. It is kept.")

    def __init__(self, data: Any, webhook: Webhook) -> None:
        super().__init__(data)
        chosen: Any = self.fields["report"]
        chosen.queryset = _open_in(webhook)
        chosen.label_from_instance = lambda report: f"{report}: {report.why}"
        chosen.initial = chosen.queryset.first()


class ClosesReports(admin.ModelAdmin):
    """A page of a webhook that offers whoever may to close what needs attention of it."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.close)
        return [path("<uuid:pk>/close/", view, name="payments_webhook_close"), *super().get_urls()]

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        webhook = kwargs["obj"]
        if operator_of(request).has_perm(MAY_CLOSE) and _open_in(webhook).exists():
            address = reverse("admin:payments_webhook_close", args=[webhook.pk])
            context["acts"] = [Act("Close with a note", address)]
        return super().render_change_form(request, context, *args, **kwargs)

    def close(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Asks for a note, and closes one report of the webhook with it."""
        if not operator_of(request).has_perm(MAY_CLOSE):
            raise PermissionDenied
        webhook = get_object_or_404(self.get_queryset(request), pk=pk)
        if not _open_in(webhook).exists():
            return self._left(request, webhook, messages.WARNING, "Nothing of it needs attention any more.")
        form = ClosingForm(request.POST or None, webhook)
        if form.is_valid():
            return self._close(request, webhook, **form.cleaned_data)
        facts = [("Account", webhook.account), ("Received", f"{utc(webhook.received_at)} UTC")]
        return form_page(request, self, "Close this report?", facts, form, [("close", "Close")])

    def _close(self, request: HttpRequest, webhook: Webhook, report: WebhookReport, note: str) -> HttpResponse:
        try:
            with transaction.atomic():
                attention.close(report, operator_of(request), note)
                audit_log.record(
                    Action.CLOSED, webhook, fields=["state", "note"], detail=f"report {report}", reason=note
                )
        except attention.TooLate:
            return self._left(request, webhook, messages.WARNING, "Somebody else was first.")
        return self._left(request, webhook, messages.SUCCESS, "Closed.")

    def _left(self, request: HttpRequest, webhook: Webhook, level: int, told: str) -> HttpResponse:
        self.message_user(request, told, level)
        return redirect("admin:payments_webhook_change", webhook.pk)


def _open_in(webhook: Webhook) -> Any:
    """The reports of a webhook that need attention."""
    return webhook.reports.filter(state=State.NEEDS_ATTENTION).order_by("pk")
