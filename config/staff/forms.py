import re
from typing import Any

from django import forms

FILLING = re.compile(r"[\s-]")
WRONG = "That code is not right, or was used already. Wait a moment, then try the next one."


class CodeInput(forms.TextInput):
    """Does not show again what was typed."""

    def format_value(self, value: Any) -> None:
        return None


class CodeForm(forms.Form):
    """A one-time code, however it was typed. The view adds the error of one that does not do."""

    code = forms.CharField(
        max_length=40,
        widget=CodeInput(attrs={"autocomplete": "one-time-code", "autofocus": True, "spellcheck": "false"}),
    )

    def clean_code(self) -> str:
        return FILLING.sub("", self.cleaned_data["code"]).lower()
