"""The library's forms, each with what this installation adds."""

import logging
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from allauth.account.forms import LoginForm, ResetPasswordForm
from allauth.core import context
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base.forms import AuthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authentication_failed
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.totp.internal.auth import SECRET_SESSION_KEY, TOTP
from allauth.mfa.utils import decrypt, encrypt
from allauth.mfa.webauthn.forms import AddWebAuthnForm, AuthenticateWebAuthnForm
from django import forms
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from payments.concurrency.connections import release_connection
from payments.sensitive_data.card_numbers import holds_card_number
from payments.staff.sign_in import lockout
from payments.staff.sign_in.adapters import NOT_SIGNED_IN
from payments.staff.sign_in.addresses import AddressField, folded

logger = logging.getLogger("kaha.staff")

# One thread: however many strangers ask for links, they take one connection to the database and to the mail server.
SENDER = ThreadPoolExecutor(1, thread_name_prefix="password-link")
OFFERED = "offered_authenticator"
# What a body of nonsense makes the library raise.
UNREADABLE = (forms.ValidationError, TypeError, ValueError, KeyError, AttributeError)


class CodeField(forms.CharField):
    """A code, which the page does not show again."""

    widget = forms.TextInput({"autocomplete": "one-time-code", "autofocus": True, "spellcheck": "false"})

    def bound_data(self, data: Any, initial: Any) -> Any:
        return initial


class PasskeyField(forms.JSONField):
    """What a browser says of a passkey."""

    widget = forms.HiddenInput

    def bound_data(self, data: Any, initial: Any) -> Any:
        return initial

    def to_python(self, value: Any) -> Any:
        try:
            return super().to_python(value)
        except RecursionError:
            raise forms.ValidationError(self.error_messages["invalid"]) from None


class PasswordForm(LoginForm):
    """Refuses card numbers as names before anything asks the database about them."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.fields["login"].widget.attrs["autofocus"] = True

    def clean_login(self) -> str:
        name: str = super().clean_login()
        if holds_card_number(name):
            raise forms.ValidationError(NOT_SIGNED_IN)
        return name


class ResetForm(ResetPasswordForm):
    """Sends the link beside the request: the time that it takes would show that there is such an operator."""

    users: Any
    email = AddressField(label=_("E-mail"), widget=forms.EmailInput({"autocomplete": "email"}))

    def clean_email(self) -> str:
        email: str = super().clean_email()
        # The library finds those, too, whose address is written alike, or who have not confirmed this one.
        self.users = [user for user in self.users if folded(user.email) == email]
        return email

    def save(self, request: HttpRequest, **_: Any) -> None:
        SENDER.submit(copy_context().run, self._send, request)

    def _send(self, request: HttpRequest) -> None:
        try:
            super().save(request)
        except Exception:
            logger.exception("the link to set a new password was not sent")
        finally:
            release_connection()


class CodeForm(AuthenticateForm):
    """A code of the app, or a recovery code."""

    code = CodeField()

    def clean_code(self) -> str:
        lockout.refuse(context.request, self.user.username)
        return super().clean_code()


class PasskeyForm(AuthenticateWebAuthnForm):
    """A passkey's answer; a wrong one counts as a failure."""

    credential = PasskeyField()

    def clean_credential(self) -> Any:
        lockout.refuse(context.request, self.user.username)
        try:
            return super().clean_credential()
        except UNREADABLE:
            sent = {"request": context.request, "user": self.user, "authenticator": None}
            authentication_failed.send(sender=Authenticator, **sent)
            raise get_adapter().validation_error("incorrect_code") from None


class NewAppForm(ActivateTOTPForm):
    """The first code of a new app, whose key lies sealed in the session; the code does not sign in afterwards."""

    code = CodeField()

    def __init__(self, *args: Any, **named: Any) -> None:
        session = context.request.session
        if OFFERED in session:
            session[SECRET_SESSION_KEY] = decrypt(session[OFFERED])
        super().__init__(*args, **named)
        session[OFFERED] = encrypt(session.pop(SECRET_SESSION_KEY))

    def clean_code(self) -> str:
        code: str = super().clean_code()
        new = Authenticator(user=self.user, data={"secret": context.request.session[OFFERED]})
        TOTP(new).validate_code(code)
        return code


class NewPasskeyForm(AddWebAuthnForm):
    """A new passkey."""

    credential = PasskeyField()

    def clean(self) -> dict[str, Any]:
        try:
            return super().clean()
        except UNREADABLE:
            raise get_adapter().validation_error("incorrect_code") from None
