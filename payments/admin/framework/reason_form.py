"""Forms that ask why."""

from typing import Any

from django import forms

from payments.ids import new_id
from payments.models.correction import NOTE_MAX_LENGTH, free_of_secrets
from payments.redaction import redact

AS_USUAL = "Such as a ticket. No card numbers, no keys. The audit log keeps it."


class SecretsHidden(forms.Textarea):
    """Shows a refused text again without what it was refused for."""

    def format_value(self, value: Any) -> str:
        return redact(value or "")


def reason_field(help_text: str = AS_USUAL) -> forms.CharField:
    """Asks why; what holds a secret is refused, and not shown again."""
    widget = SecretsHidden(attrs={"rows": 3, "class": "vLargeTextField"})
    validators = [free_of_secrets]
    return forms.CharField(
        label="Why", max_length=NOTE_MAX_LENGTH, validators=validators, widget=widget, help_text=help_text
    )


class ReasonForm(forms.Form):
    """Asks for the reason, after all else."""

    reason = reason_field()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"] = self.fields.pop("reason")


class OnceForm(ReasonForm):
    """Brings along the ID of the row that it makes, so that it makes no second one when it is sent again."""

    row_id = forms.UUIDField(initial=new_id, widget=forms.HiddenInput)
