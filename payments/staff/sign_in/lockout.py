"""The lock-out after failures of either factor, counted in PostgreSQL by user name and by address.

The library's own limit may end before half an hour, and counts passwords and codes apart.
"""

from datetime import timedelta
from typing import Any

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.signals import authentication_failed
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.db import connection
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext

from payments import clock
from payments.api.access.throttling import client_address
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.risk.addresses import counted
from payments.staff.models import SignInFailures
from payments.staff.sites import site_of
from payments.vault.fingerprints import sign_in_fingerprint

FAILURES_MAX = 10
LASTS = timedelta(minutes=30)
# In one order, so that two failures at once do not wait for each other.
COUNT = """
INSERT INTO staff_signinfailures AS counted (key, failures, last_at)
SELECT key, 1, %(now)s FROM unnest(%(keys)s) key ORDER BY key
ON CONFLICT (key) DO UPDATE SET last_at = excluded.last_at,
    failures = CASE WHEN counted.last_at > %(since)s THEN counted.failures + 1 ELSE 1 END
RETURNING failures
"""


def refuse(request: HttpRequest, name: str) -> None:
    """Answer 429 instead of the page if the user or the address is locked out."""
    locked = SignInFailures.objects.filter(failures__gte=FAILURES_MAX, last_at__gt=clock.now() - LASTS)
    if locked.filter(key__in=_keys(request, name)).exists():
        raise ImmediateHttpResponse(_locked_out(request))


def end(name_or_address: str) -> bool:
    """End the lock-out of a user or an address; return whether there were failures of it."""
    keys = [key_of("name", name_or_address), key_of("address", counted(name_or_address))]
    return bool(SignInFailures.objects.filter(key__in=keys).delete()[0])


def key_of(kind: str, text: str) -> bytes:
    """Return what is stored in place of a user name or an address: a name is often a password."""
    return sign_in_fingerprint(kind, text)


@receiver(user_login_failed)
def count_password(credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any) -> None:
    """Count a wrong password."""
    if request:
        _count(request, str(credentials.get("username")))


@receiver(authentication_failed)
def count_second_factor(request: HttpRequest, user: User, **_: Any) -> None:
    """Count a wrong code or passkey."""
    _count(request, user.username)


@receiver(user_logged_in)
def forgive(request: HttpRequest, user: User, **_: Any) -> None:
    """Forget the failures before a sign-in that did not fail."""
    SignInFailures.objects.filter(key__in=_keys(request, user.username)).delete()


def _count(request: HttpRequest, name: str) -> None:
    now = clock.now()
    with connection.cursor() as cursor:
        cursor.execute(COUNT, {"keys": _keys(request, name), "now": now, "since": now - LASTS})
        failures = max(count for (count,) in cursor.fetchall())
    # An unknown name is not recorded, for the same reason as above.
    user = User.objects.filter(username=name).first()
    audit_log.record(Action.SIGN_IN_FAILED, user)
    if failures >= FAILURES_MAX:
        audit_log.record(Action.LOCKED_OUT, user)
        raise ImmediateHttpResponse(_locked_out(request))


def _keys(request: HttpRequest, name: str) -> list[bytes]:
    return [key_of("name", name), key_of("address", counted(client_address(request)))]


def _locked_out(request: HttpRequest) -> HttpResponse:
    """Return 429, the same whether the user exists or not."""
    seconds = int(LASTS.total_seconds())
    shown = site_of(request).each_context(request) | {"title": gettext("Locked out"), "minutes": seconds // 60}
    response = render(request, "429.html", shown, status=429)
    response["Retry-After"] = str(seconds)
    return response
