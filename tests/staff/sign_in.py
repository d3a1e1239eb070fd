"""Somebody at the admin's door, and what an authenticator app would show."""

import re
import time
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django_otp.oath import TOTP

from payments.staff.models import Authenticator
from payments.staff.sign_in.enrolment import recovery_codes_of

PASSWORD = "kalesa-77-halo-halo"
LOGIN, SECOND_FACTOR, ENROL, RECOVERY_CODES, FACTORS, INDEX = (
    reverse(f"admin:{name}") for name in ("login", "second_factor", "enrol", "recovery_codes", "factors", "index")
)
STEP_SECONDS = 30


class Visitor(Client):
    """A browser at the door, of which scripts do not run."""

    def give_password(self, name: str = "ana", password: str = PASSWORD, **headers: str) -> Any:
        return self.post(LOGIN, {"username": name, "password": password}, headers=headers, follow=True)

    def give_code(self, code: str, **headers: str) -> Any:
        return self.post(SECOND_FACTOR, {"code": code}, headers=headers)

    def sign_in(self, user: User) -> None:
        """Sign in with an authenticator app that the user has enrolled before."""
        app = app_of(user)
        self.give_password(user.username)
        assert self.give_code(code_of(app)).status_code == 302

    def is_in(self) -> bool:
        """Return whether the admin lets the visitor in, or sends to the login."""
        return self.get(INDEX).status_code == 200


def app_of(user: User) -> Authenticator:
    """Return the user's authenticator app, made if need be."""
    return Authenticator.objects.get_or_create(user=user, confirmed=True, defaults={"name": "Authenticator app"})[0]


def code_of(app: Authenticator, steps_ahead: int = 0) -> str:
    """Return what the app shows, now or so many steps later."""
    totp = TOTP(app.bin_key)
    totp.time = time.time() + steps_ahead * STEP_SECONDS
    return f"{totp.token():06}"


def wrong_code_of(app: Authenticator) -> str:
    """Return a code that the app does not show for a long time."""
    shown = {code_of(app, steps) for steps in range(-3, 4)}
    return next(code for code in map("{:06}".format, range(10)) if code not in shown)


def renewed_codes_of(user: User) -> list[str]:
    """Return new recovery codes."""
    return recovery_codes_of(user).renew()


def shown_key(text: str) -> str:
    """Return the key that the page of enrolment shows."""
    [key] = re.findall(r'<code class="key">([A-Z2-7 ]+)</code>', text)
    return key
