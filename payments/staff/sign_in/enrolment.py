"""Enrolment of second factors: one authenticator app, any number of passkeys, and one set of recovery codes."""

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
    """Return the unconfirmed app that this session offers to `user`; each session offers a new one.

    The secret of an earlier session's app may be known to another person.
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
    """Confirm `device`, which replaces the user's earlier app."""
    Authenticator.objects.filter(user=device.user, confirmed=True).delete()
    device.confirmed = True
    device.save()


def factors_of(user: User) -> list[Device]:
    """Return the app and passkeys of `user`."""
    models = (Authenticator, WebAuthnCredential)
    return [device for model in models for device in model.objects.filter(user=user, confirmed=True).order_by("pk")]


def removable_factors_of(user: User) -> list[Device]:
    """Return the factors of the signed-in `user` except the one that was used to sign in."""
    in_use: Any = user
    return [device for device in factors_of(user) if device != in_use.otp_device]


@transaction.atomic
def renew_recovery_codes(user: User) -> list[str]:
    """Replace the recovery codes of `user`; return the new ones, which cannot be read again."""
    codes = recovery_codes_of(user).renew()
    audit_log.record(Action.CHANGED, user, fields=["second_factors"], detail="recovery codes renewed")
    return codes


def recovery_codes_of(user: User) -> RecoveryCodes:
    """Return the recovery codes of `user`, an empty set if there are none."""
    return RecoveryCodes.objects.get_or_create(user=user, defaults={"name": "Recovery codes"})[0]
