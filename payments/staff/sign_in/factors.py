"""Which second factor a session has given, and who may enrol a first one."""

import time
from typing import Any

from allauth.account.authentication import get_authentication_records
from allauth.account.internal.flows.login import record_authentication
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authenticator_added, authenticator_reset
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth.models import User
from django.dispatch import receiver
from django.http import HttpRequest


def in_use(request: Any) -> Authenticator | None:
    """Return the second factor that this session was signed in with, if its user still has it."""
    if not hasattr(request, "factor_in_use"):
        records = get_authentication_records(request, request.user)
        given = [record["id"] for record in records if record["method"] == "mfa"]
        own = Authenticator.objects.filter(user=request.user, pk__in=given) if given else Authenticator.objects.none()
        request.factor_in_use = own.order_by("-last_used_at", "pk").first()
    return request.factor_in_use


def gave_password(request: Any) -> bool:
    """Return whether the user gave the password in this session a short while ago."""
    since = time.time() - settings.ACCOUNT_LOGIN_TIMEOUT
    records = get_authentication_records(request, request.user)
    return any(record["method"] == "password" and record["at"] > since for record in records)


def may_enrol(request: Any) -> bool:
    """Return whether the user has no second factor yet, and may add the first.

    An older session may not: its factor may have been taken away because of who has the session.
    """
    return settings.ADMIN_MFA and gave_password(request) and not of(request.user).exists()


def of(user: Any) -> Any:
    """Return the app and passkeys of `user`, without the recovery codes that come with them."""
    return Authenticator.objects.filter(user=user).exclude(type=Authenticator.Type.RECOVERY_CODES)


@receiver([authenticator_added, authenticator_reset])
def use(request: HttpRequest, user: User, authenticator: Authenticator, **_: Any) -> None:
    """Count a new factor as one that the session was signed in with, and begin a new session."""
    record_authentication(request, user, "mfa", id=authenticator.pk, type=authenticator.type)
    UserSession.objects.filter(session_key=request.session.session_key).delete()
    request.session.cycle_key()
    UserSession.objects.create_from_request(request)
