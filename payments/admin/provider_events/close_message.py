"""The form that closes a provider event on the page of its message."""

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
from payments.admin.framework.object_actions import ActionButton, form_page, operator_of
from payments.admin.framework.reason_form import reason_field
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.provider_events import attention
from payments.models import ProviderEvent, ProviderMessage

MAY_CLOSE = "payments.close_providerevent"
State = ProviderEvent.State


class ClosingForm(forms.Form):
    """The event that needs attention, and the operator's note."""

    report = forms.ModelChoiceField(
        ProviderEvent.objects.none(), empty_label=None, widget=forms.RadioSelect(attrs={"class": "radiolist"})
    )
    note = reason_field("What it was and what was done about it, such as a ticket. No card numbers. It is kept.")

    def __init__(self, data: Any, message: ProviderMessage) -> None:
        super().__init__(data)
        chosen: Any = self.fields["report"]
        chosen.queryset = _open_in(message)
        chosen.label_from_instance = lambda report: f"{report}: {report.why}"
        chosen.initial = chosen.queryset.first()


class ClosesReports(admin.ModelAdmin):
    """A message's page with a button that closes its events that need attention."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.close)
        return [path("<uuid:pk>/close/", view, name="payments_providermessage_close"), *super().get_urls()]

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        message = kwargs["obj"]
        if operator_of(request).has_perm(MAY_CLOSE) and _open_in(message).exists():
            address = reverse("admin:payments_providermessage_close", args=[message.pk])
            context["acts"] = [ActionButton("Close with a note", address)]
        return super().render_change_form(request, context, *args, **kwargs)

    def close(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Ask for a note, and close one event of the message with it."""
        if not operator_of(request).has_perm(MAY_CLOSE):
            raise PermissionDenied
        message = get_object_or_404(self.get_queryset(request), pk=pk)
        if not _open_in(message).exists():
            return self._left(request, message, messages.WARNING, "Nothing of it needs attention any more.")
        form = ClosingForm(request.POST or None, message)
        if form.is_valid():
            return self._close(request, message, **form.cleaned_data)
        facts = [("Account", message.account), ("Received", f"{utc(message.received_at)} UTC")]
        return form_page(request, self, "Close this report?", facts, form, [("close", "Close")])

    def _close(self, request: HttpRequest, message: ProviderMessage, report: ProviderEvent, note: str) -> HttpResponse:
        try:
            with transaction.atomic():
                attention.close(report, operator_of(request), note)
                audit_log.record(
                    Action.CLOSED, message, fields=["state", "note"], detail=f"report {report}", reason=note
                )
        except attention.TooLate:
            return self._left(request, message, messages.WARNING, "Somebody else was first.")
        return self._left(request, message, messages.SUCCESS, "Closed.")

    def _left(self, request: HttpRequest, message: ProviderMessage, level: int, text: str) -> HttpResponse:
        self.message_user(request, text, level)
        return redirect("admin:payments_providermessage_change", message.pk)


def _open_in(message: ProviderMessage) -> Any:
    """Return the events of a message that need attention."""
    return message.events.filter(state=State.NEEDS_ATTENTION).order_by("pk")
