"""Second factors as Django's authentication backends, so that the lock-out and the signals of failures cover them.

Django removes arguments named `token` or `…key` from the signal of a failure; the arguments here have such names.
"""

from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest
from django_otp.models import Device
from django_otp_webauthn.exceptions import OTPWebAuthnApiError
from django_otp_webauthn.models import WebAuthnCredential
from django_otp_webauthn.utils import rewrite_exceptions

from payments.staff.models import device_that_accepts


class CodeBackend:
    """Authenticates a user, whose password was right, by a code."""

    def authenticate(self, request: HttpRequest, username: str | None = None, token: str = "") -> User | None:  # nosec B107 # none given
        user = User.objects.filter(username=username).first() if token else None
        return _verified(user, device_that_accepts(user, token)) if user else None


class PasskeyBackend:
    """Authenticates a user, whose password was right, by a passkey's answer to the challenge in `state`."""

    def authenticate(
        self, request: HttpRequest, username: str | None = None, passkey: tuple[dict[str, Any], Any] | None = None
    ) -> User | None:
        user = User.objects.filter(username=username).first() if passkey else None
        return _verified(user, _device_that_answers(request, user, *passkey)) if user and passkey else None


def _device_that_answers(request: HttpRequest, user: User, state: dict[str, Any], answer: Any) -> Device | None:
    helper = WebAuthnCredential.get_webauthn_helper(request)
    try:
        with rewrite_exceptions():
            device = helper.authenticate_complete(user=user, state=state, data=answer)
    except OTPWebAuthnApiError:
        return None
    return device if device.confirmed else None


def _verified(user: User, device: Device | None) -> User | None:
    user.otp_device = device  # type: ignore[attr-defined]
    return user if device else None
