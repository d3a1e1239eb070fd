"""What the audit log is told of signing in and out. A sign-in that cannot be told does not happen."""

from typing import Any

from axes.signals import user_locked_out
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.dispatch import receiver
from django.http import HttpRequest

from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action


@receiver(user_logged_in)
def tell_sign_in(user: User, **_: Any) -> None:
    """That `user` is signed in."""
    audit_log.record(Action.SIGNED_IN, user)


@receiver(user_logged_out)
def tell_sign_out(user: User | None, **_: Any) -> None:
    """That `user`, who was signed in, is no longer."""
    if user:
        audit_log.record(Action.SIGNED_OUT, user)


@receiver(user_login_failed)
def tell_failure(credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any) -> None:
    """That somebody was refused, unless they were locked out before: what that refuses stands in the request log."""
    if _is_counted(request):
        audit_log.record(Action.SIGN_IN_FAILED, _named(credentials.get("username")))


@receiver(user_locked_out)
def tell_lock_out(request: HttpRequest, username: str | None, **_: Any) -> None:
    """That a failure was one too many."""
    if _is_counted(request):
        audit_log.record(Action.LOCKED_OUT, _named(username))


def _is_counted(request: Any) -> bool:
    # django-axes tells again at every try of somebody who is locked out, and counts those no more.
    return not getattr(request, "axes_locked_out", False) or request.axes_failures_since_start is not None


def _named(username: str | None) -> User | None:
    """The user of this name. A name that nobody has is told to nobody: many a password was typed there."""
    return User.objects.filter(username=username).first()
