"""Browsers in which somebody has signed in before: they do not wait behind others at the sign-in."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.signing import BadSignature, TimestampSigner
from django.http import HttpResponse, parse_cookie

NAME = f"{settings.COOKIE_PREFIX}known"
KEPT = timedelta(days=180)
SIGNER = TimestampSigner(salt="kaha.known_browser")


def mark(response: HttpResponse, user_id: int) -> None:
    """Have the browser that gets `response` be known as one of this user's. The cookie signs nobody in."""
    options: dict[str, Any] = {"secure": settings.HTTPS, "httponly": True, "samesite": "Lax"}
    response.set_cookie(NAME, SIGNER.sign(str(user_id)), max_age=KEPT, **options)


def known_by(cookies: str) -> tuple[str, str] | None:
    """Return the caller that the `Cookie` header of a known browser names, None for any other."""
    if NAME not in cookies:
        return None
    try:
        return "browser", SIGNER.unsign(parse_cookie(cookies).get(NAME, ""), max_age=KEPT)
    except BadSignature:
        return None
