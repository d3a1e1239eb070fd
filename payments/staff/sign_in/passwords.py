import re

from django.contrib.auth.base_user import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

LETTER = re.compile(r"[^\W\d_]")
DIGIT = re.compile(r"\d")
FORM = _("The password must have letters and digits.")


class LettersAndDigits:
    """The requirement of PCI DSS 4.0.1 (8.3.6) beyond the length of a password."""

    def validate(self, password: str, user: AbstractBaseUser | None = None) -> None:
        if not (LETTER.search(password) and DIGIT.search(password)):
            raise ValidationError(FORM, code="password_without_letters_or_digits")

    def get_help_text(self) -> str:
        return str(FORM)
