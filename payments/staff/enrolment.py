"""How somebody gets a second factor: one app at most, any number of passkeys, and one set of recovery codes."""

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest
from django_otp.models import Device
from django_otp_webauthn.models import WebAuthnCredential

from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.staff.models import Authenticator, RecoveryCodes

OFFERED = "offered_authenticator"


def offered_authenticator(request: HttpRequest, user: User) -> Authenticator:
    """The app that this session offers to `user`: the same while a page is shown again, new in each session.

    One of an earlier session might be known to whoever had that.
    """
    unconfirmed = Authenticator.objects.filter(user=user, confirmed=False)
    device = unconfirmed.filter(pk=request.session.get(OFFERED)).first()
    if device is None:
        unconfirmed.delete()
        device = unconfirmed.create(user=user, name="Authenticator app", confirmed=False)
        request.session[OFFERED] = device.pk
    return device


@transaction.atomic
def confirm(device: Authenticator) -> None:
    """Puts `device`, whose codes are right, in place of the app that its user had."""
    Authenticator.objects.filter(user=device.user, confirmed=True).delete()
    device.confirmed = True
    device.save()


def factors_of(user: User) -> list[Device]:
    """The app and the passkeys of `user`."""
    models = (Authenticator, WebAuthnCredential)
    return [device for model in models for device in model.objects.filter(user=user, confirmed=True).order_by("pk")]


def removable_factors_of(user: User) -> list[Device]:
    """Those of `user`, who is signed in, but for the one that was used for it."""
    in_use: Any = user
    return [device for device in factors_of(user) if device != in_use.otp_device]


@transaction.atomic
def renew_recovery_codes(user: User) -> list[str]:
    """New recovery codes of `user` in place of all others, told this once."""
    codes = recovery_codes_of(user).renew()
    audit_log.record(Action.CHANGED, user, fields=["second_factors"], detail="recovery codes renewed")
    return codes


def recovery_codes_of(user: User) -> RecoveryCodes:
    """The recovery codes of `user`, none at first."""
    return RecoveryCodes.objects.get_or_create(user=user, defaults={"name": "Recovery codes"})[0]
