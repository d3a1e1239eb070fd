"""Notes, assignment and tags on the page of an object."""

import re
from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.views.decorators.http import require_POST

from payments.admin.framework.object_actions import Part, operator_of
from payments.admin.framework.reason_form import SecretsHidden, TextForm
from payments.domain.operators import cases
from payments.models.operators.case import CASE_NOTE_MAX_LENGTH, TAG_MAX_LENGTH, TAGS_MAX
from payments.models.operators.reasons import free_of_secrets

MAY_WORK = "payments.change_case"
TAG = re.compile(r"[a-z0-9][a-z0-9-]*")
BETWEEN_TAGS = re.compile(r"[\s,]+")


class CaseForm(TextForm, forms.Form):
    note = forms.CharField(
        required=False,
        max_length=CASE_NOTE_MAX_LENGTH,
        validators=[free_of_secrets],
        widget=SecretsHidden(attrs={"rows": 2}),
        help_text="No card numbers, no keys",
    )
    assignee = forms.ModelChoiceField(
        User.objects.none(), required=False, empty_label="no operator", label="Assigned to"
    )
    tags = forms.CharField(
        required=False,
        max_length=TAGS_MAX * (TAG_MAX_LENGTH + 2),
        help_text=f"At most {TAGS_MAX}, such as: fraud-check payer-called",
    )

    def clean_tags(self) -> list[str]:
        tags = sorted({tag for tag in BETWEEN_TAGS.split(self.cleaned_data["tags"].lower()) if tag})
        if len(tags) > TAGS_MAX:
            raise forms.ValidationError(f"At most {TAGS_MAX} tags.", "too_many")
        if any(len(tag) > TAG_MAX_LENGTH or not TAG.fullmatch(tag) for tag in tags):
            text = f"A tag has at most {TAG_MAX_LENGTH} letters, digits and dashes."
            raise forms.ValidationError(text, "malformed")
        return tags


class CasePanel(Part):
    """The case of a row, on its page."""

    def urls(self, page: Any) -> list[URLPattern]:
        view = page.admin_site.admin_view(partial(self.work_on, page=page))
        return [path(f"<{page.key_converter}:pk>/case/", view, name=_address(page))]

    @method_decorator(require_POST)
    def work_on(self, request: HttpRequest, pk: Any, page: Any) -> HttpResponse:
        """Add a note, and set assignee and tags."""
        operator = operator_of(request)
        if not operator.has_perm(MAY_WORK):
            raise PermissionDenied
        row = get_object_or_404(page.get_queryset(request), pk=pk)
        form = _form_for(row, request.POST)
        try:
            if form.is_valid():
                changed = cases.work_on(row, operator, **form.cleaned_data)
                text = f"Saved: {', '.join(changed)}." if changed else "Nothing was changed."
                page.message_user(request, text, messages.SUCCESS)
            else:
                for errors in form.errors.values():
                    page.message_user(request, f"Not saved. {' '.join(map(str, errors))}", messages.ERROR)
        except cases.CaseFull as fault:
            page.message_user(request, f"Not saved. {fault}", messages.ERROR)
        return redirect(f"admin:{page.opts.app_label}_{page.opts.model_name}_change", pk)

    def beside_row(self, page: Any, request: HttpRequest, row: Any) -> dict[str, Any]:
        case = cases.case_of(row)
        initial = {"assignee": case.assignee_id, "tags": " ".join(case.tags)} if case else {}
        may_work = operator_of(request).has_perm(MAY_WORK)
        shown = {
            "assignee": case.assignee if case else None,
            "tags": case.tags if case else [],
            "notes": list(case.notes.select_related("author").order_by("pk")) if case else [],
            "form": _form_for(row, None, initial) if may_work else None,
            "url": reverse(f"admin:{_address(page)}", args=[row.pk]),
        }
        return {"case": shown}


def _address(page: Any) -> str:
    return f"{page.opts.app_label}_{page.opts.model_name}_case"


def _form_for(row: Any, data: Any, initial: dict[str, Any] | None = None) -> CaseForm:
    form = CaseForm(data, initial=initial, auto_id="case_%s")
    assignee: Any = form.fields["assignee"]
    assignee.queryset = cases.possible_assignees(row)
    return form
