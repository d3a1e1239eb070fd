"""What operators do about a dispute for its merchant."""

import base64
from typing import Any

from csp.decorators import csp_update
from django import forms
from django.core.validators import RegexValidator
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.utils.text import format_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.framework.actions import Action, Done
from payments.admin.framework.formats import money
from payments.admin.framework.object_actions import Facts
from payments.admin.framework.reason_form import ReasonForm
from payments.admin.shown_times import moment_text
from payments.domain.approvals import disputes
from payments.domain.approvals.disputes import AboveLimit
from payments.domain.disputes import evidence
from payments.domain.disputes.stages import ASKS_FOR_EVIDENCE
from payments.domain.disputes.verbs import ACCEPT, ADD_EVIDENCE, SUBMIT_EVIDENCE
from payments.domain.shared.errors import PaymentError
from payments.models import Dispute
from payments.models.charging.evidence import (
    NAME_MAX_LENGTH,
    NOTHING_TO_READ,
    READABLE,
    SIGNATURES,
    SIZE_MAX,
    TEXT_MAX_LENGTH,
    content_type_of,
)
from payments.names import NOT_IN_ONE_LINE
from payments.providers.disputes import Evidence, EvidenceType
from payments.sensitive_data.redaction import shortened
from payments.vault import VaultUnavailable

SUBMITTED = _("The evidence is on its way to the provider.")
# The person's own browser shows the picture that they chose, before it is sealed.
SHOWS_CHOSEN: Any = csp_update({"img-src": ["blob:"]})
ANSWERED = (Dispute.ResponseState.PENDING, Dispute.ResponseState.SENT)


class EvidenceForm(ReasonForm):
    type = forms.ChoiceField(
        label=_("Type"),
        choices=[(kind.value, _(kind.replace("_", " ").capitalize())) for kind in EvidenceType],
        help_text=_("In place of the piece of this type, if there is one."),
    )
    text = forms.CharField(
        label=_("Text"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 8, "class": "vLargeTextField"}),
        max_length=TEXT_MAX_LENGTH,
        validators=[RegexValidator(READABLE, _(NOTHING_TO_READ))],
        help_text=_("Sealed, and sent to the provider alone."),
    )
    file = forms.FileField(
        label=_("File"),
        required=False,
        widget=forms.FileInput(attrs={"accept": ",".join(SIGNATURES.values()), "data-preview": ""}),
        help_text=format_lazy(
            _("In place of a text: a PDF, PNG or JPEG of at most {size}, sealed too."), size=filesizeformat(SIZE_MAX)
        ),
    )
    submit = forms.BooleanField(
        required=False,
        label=_("Submit all evidence now"),
        help_text=SUBMIT_EVIDENCE.does,
    )

    def clean_file(self) -> tuple[str, str, str] | None:
        """Return the type of the file's content, the content in base64, and the name."""
        file = self.cleaned_data["file"]
        if file is None:
            return None
        if file.size > SIZE_MAX:
            too_large = gettext("The file is larger than {size}.").format(size=filesizeformat(SIZE_MAX))
            raise forms.ValidationError(too_large)
        content = file.read()
        found = content_type_of(content)
        if found is None:
            raise forms.ValidationError(_("The file must be a PDF, PNG or JPEG."))
        name = shortened(NOT_IN_ONE_LINE.sub("", file.name), NAME_MAX_LENGTH)
        return found, base64.b64encode(content).decode(), name

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if not self.errors and bool(cleaned["text"]) == bool(cleaned["file"]):
            self.add_error("file", _("Give a text or a file, one of the two."))
        return cleaned


class Responds(Action):
    """An action on a dispute that can be responded to now."""

    for_merchants = True
    refusals = (PaymentError, AboveLimit, VaultUnavailable)
    over = _("This dispute takes no response now.")

    def fits(self, dispute: Dispute) -> bool:
        return dispute.status in ASKS_FOR_EVIDENCE and dispute.response_state not in ANSWERED

    def facts(self, dispute: Dispute) -> Facts:
        yield _("Disputed"), f"{money(dispute.amount, dispute.currency)}, {gettext(dispute.reason.replace('_', ' '))}"
        if dispute.evidence_due_at:
            yield _("Evidence due"), moment_text(dispute.evidence_due_at)
        pieces = ", ".join(gettext(piece.type.replace("_", " ")) for piece in evidence.of_dispute(dispute))
        yield _("Evidence so far"), pieces or _("none")


class AddEvidence(Responds, verb=ADD_EVIDENCE):
    form = EvidenceForm
    file_bytes = SIZE_MAX

    def seen(self, page: Any, request: HttpRequest, row: Dispute, form: forms.Form) -> dict[str, Any]:
        form.initial["type"] = request.GET.get("type")
        return super().seen(page, request, row, form)

    shown = SHOWS_CHOSEN(Responds.shown)

    def do(self, dispute: Dispute, cleaned: dict[str, Any]) -> Done:
        content_type, content, name = cleaned["file"] or (evidence.TEXT, cleaned["text"], "")
        disputes.add_evidence(dispute, Evidence(EvidenceType(cleaned["type"]), content_type, content, name))
        if not cleaned["submit"]:
            return gettext("The evidence is added. It is sent when it is submitted.")
        disputes.submit_evidence(dispute)
        return str(SUBMITTED)


class SubmitEvidence(Responds, verb=SUBMIT_EVIDENCE):
    warning = SUBMIT_EVIDENCE.does

    def fits(self, dispute: Dispute) -> bool:
        return super().fits(dispute) and dispute.evidence.exists()

    def do(self, dispute: Dispute, cleaned: dict[str, Any]) -> Done:
        disputes.submit_evidence(dispute)
        return str(SUBMITTED)


class AcceptDispute(Responds, verb=ACCEPT):
    warning = ACCEPT.does

    def fits(self, dispute: Dispute) -> bool:
        return super().fits(dispute) and dispute.status == Dispute.Status.NEEDS_RESPONSE

    def do(self, dispute: Dispute, cleaned: dict[str, Any]) -> Done:
        disputes.accept(dispute, cleaned["operator"])
        return gettext("The acceptance is on its way to the provider.")
