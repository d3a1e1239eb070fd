"""The sign-in between the right password and the second factor, kept in the session."""

from datetime import timedelta
from functools import partial
from typing import Any

from django.contrib.auth import login
from django.contrib.auth.models import User
from django.http import HttpRequest
from django_otp import user_has_device
from django_otp.middleware import is_verified
from django_otp.models import Device

from payments import clock

WAITING = "waiting_for_second_factor"
WAITS = timedelta(minutes=10)
BACKEND = "django.contrib.auth.backends.ModelBackend"


def begin(request: HttpRequest, user: User) -> None:
    """Begin a new session that waits for the second factor of `user`, whose password was right."""
    request.session.flush()
    request.session[WAITING] = {"user": user.pk, "until": (clock.now() + WAITS).timestamp()}


def waiting(request: HttpRequest) -> User | None:
    """Return the user whose second factor the session waits for; None if there is none or it took too long."""
    sign_in: dict[str, Any] = request.session.get(WAITING, {})
    if sign_in.get("until", 0) < clock.now().timestamp():
        return None
    user: Any = User.objects.filter(pk=sign_in["user"], is_active=True, is_staff=True).first()
    if user:
        # As django-otp's middleware sets them for a signed-in user.
        user.otp_device = None
        user.is_verified = partial(is_verified, user)
    return user


def enrolling(request: HttpRequest) -> User | None:
    """Return the user who may add a second factor: one without any yet, or one signed in with one."""
    user: Any = request.user
    if user.is_authenticated and user.is_verified():
        return user
    newcomer = waiting(request)
    return newcomer if newcomer and not user_has_device(newcomer) else None


def finish(request: HttpRequest, user: User, device: Device) -> None:
    """Sign `user` in, verified by `device`; do nothing if the session is signed in already."""
    if request.session.pop(WAITING, None):
        user.otp_device = device  # type: ignore[attr-defined]
        login(request, user, backend=BACKEND)
