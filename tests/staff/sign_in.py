"""Somebody at the admin's door, and what an authenticator app would show."""

import re
import time
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, generate_totp_secret, hotp_value
from allauth.mfa.utils import decrypt
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

PASSWORD = "kalesa-77-halo-halo"
LOGIN, SECOND_FACTOR, CONFIRM, ENROL, ADD_PASSKEY, RECOVERY_CODES, NEW_CODES, FACTORS, INDEX = map(
    reverse,
    (
        "account_login",
        "mfa_authenticate",
        "account_reauthenticate",
        "mfa_activate_totp",
        "mfa_add_webauthn",
        "mfa_view_recovery_codes",
        "mfa_generate_recovery_codes",
        "mfa_index",
        "admin:index",
    ),
)
STEP_SECONDS = 30


class Visitor(Client):
    """A browser at the door, of which scripts do not run."""

    def give_password(self, name: str = "ana", password: str = PASSWORD, **headers: str) -> Any:
        return self.post(LOGIN, {"login": name, "password": password}, headers=headers, follow=True)

    def give_code(self, code: str, **headers: str) -> Any:
        return self.post(SECOND_FACTOR, {"code": code}, headers=headers)

    def sign_in(self, user: User) -> None:
        """Sign in with an authenticator app that the user has enrolled before."""
        app = app_of(user)
        self.give_password(user.username)
        assert self.give_code(code_of(app)).status_code == 302

    def confirm(self) -> None:
        """Give the password again, before a change of the factors."""
        assert self.post(CONFIRM, {"password": PASSWORD}).status_code == 302

    def is_in(self) -> bool:
        """Return whether the admin lets the visitor in, or sends to the login."""
        return self.get(INDEX).status_code == 200


def app_of(user: User) -> Authenticator:
    """Return the user's authenticator app, made if need be."""
    app = Authenticator.objects.filter(user=user, type="totp").first()
    return app or TOTP.activate(user, generate_totp_secret()).instance


def key_of(app: Authenticator) -> str:
    return decrypt(app.data["secret"])


def code_of(app: Authenticator, steps_ahead: int = 0) -> str:
    """Return what the app shows, now or so many steps later."""
    return code_at(key_of(app), steps_ahead)


def code_at(key: str, steps_ahead: int = 0) -> str:
    """Return what an app of this key shows."""
    return format_hotp_value(hotp_value(key, int(time.time()) // STEP_SECONDS + steps_ahead))


def wrong_code_of(app: Authenticator) -> str:
    """Return a code that the app does not show for a long time."""
    return wrong_code_at(key_of(app))


def wrong_code_at(key: str) -> str:
    shown = {code_at(key, steps) for steps in range(-3, 4)}
    return next(code for code in map("{:06}".format, range(10)) if code not in shown)


def renewed_codes_of(user: User) -> list[str]:
    """Return new recovery codes of a user, who has an app."""
    app_of(user)
    Authenticator.objects.filter(user=user, type="recovery_codes").delete()
    return RecoveryCodes.activate(user).generate_codes()


def shown_key(text: str) -> str:
    """Return the key that the page of enrolment shows."""
    [key] = re.findall(r'<code class="key">([A-Z2-7]+)</code>', text)
    return key
