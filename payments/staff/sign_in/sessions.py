"""The end of sessions: after fifteen minutes without a request, and after SIGNED_IN_HOURS in any case."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import SESSION_KEY, logout
from django.contrib.auth.signals import user_logged_in
from django.db import connections
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext

from payments import clock
from payments.concurrency.connections import recording_alias

SIGNED_IN_AT = "signed_in_at"
SEEN_EVERY = timedelta(minutes=1)
RENEW = """
WITH renewed AS (UPDATE django_session SET expire_date = %(end)s WHERE session_key = %(key)s)
UPDATE staff_operatorprofile SET last_seen_at = %(now)s WHERE user_id = %(user)s AND last_seen_at < %(stale)s
"""


@receiver(user_logged_in)
def note_when(request: HttpRequest, **_: Any) -> None:
    """Store the time of the sign-in in the session."""
    request.session[SIGNED_IN_AT] = clock.now().timestamp()


class SessionLimits(MiddlewareMixin):
    """Signs a user out whose sign-in is too old; otherwise renews the session's expiry and notes the request's time."""

    def process_request(self, request: HttpRequest) -> None:
        session: Any = request.session
        if SESSION_KEY not in session:
            return
        age_seconds = clock.now().timestamp() - session.get(SIGNED_IN_AT, 0)
        if age_seconds > timedelta(hours=settings.SIGNED_IN_HOURS).total_seconds():
            logout(request)
            text = gettext("Sign in again: you were signed in for {hours} hours.")
            messages.warning(request, text.format(hours=settings.SIGNED_IN_HOURS))
        else:
            # Not by saving the session, which would overwrite a concurrent request's changes.
            now = clock.now()
            values = {"end": session.get_expiry_date(), "key": session.session_key, "user": session[SESSION_KEY]}
            with connections[recording_alias()].cursor() as cursor:
                cursor.execute(RENEW, values | {"now": now, "stale": now - SEEN_EVERY})
