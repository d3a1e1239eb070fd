"""What operators write, shown to them again."""

from typing import Any

from django import forms

from payments.redaction import redact


class SecretsHidden(forms.Textarea):
    """Shows a refused text again without what it was refused for."""

    def format_value(self, value: Any) -> str:
        return redact(value or "")
