from typing import Any

from django import forms
from django.contrib.admin.forms import AdminAuthenticationForm

from payments.sensitive_data.card_numbers import holds_card_number

WRONG = "That code is not right, or was used already. Wait a moment, then try the next one."


class CodeInput(forms.TextInput):
    """A text input that does not render its value again."""

    def format_value(self, value: Any) -> None:
        return None


class PasswordForm(AdminAuthenticationForm):
    """The sign-in form, which refuses card numbers as names, because the lock-out would store them."""

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        if holds_card_number(name):
            raise self.get_invalid_login_error()
        return name


class CodeForm(forms.Form):
    """A one-time code; blanks, dashes and case do not matter. The view adds the error for a wrong one."""

    code = forms.CharField(
        max_length=40,
        widget=CodeInput(attrs={"autocomplete": "one-time-code", "autofocus": True, "spellcheck": "false"}),
    )

    def clean_code(self) -> str:
        return "".join(self.cleaned_data["code"].split()).replace("-", "").lower()
