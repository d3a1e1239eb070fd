"""What the audit log is told of operators' accounts, wherever they are changed: on a page, by a command, by themselves.

By signals of the models, for an account is changed in more places than the admin's pages of it.
"""

from typing import Any

from django.contrib.auth.models import User
from django.db.models import Model
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_delete, pre_save
from django.dispatch import receiver
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice
from django_otp_webauthn.models import WebAuthnCredential

from payments.domain import exports
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.ids import public_id
from payments.models import MerchantAccess
from payments.staff.models import Authenticator, RecoveryCodes

# What Django itself writes when somebody signs in: the time, and the password's hash where that is to be stronger.
BY_SIGNING_IN = ({"last_login"}, {"password"})
GIVEN = {User.groups.through: "groups", User.user_permissions.through: "user_permissions"}


@receiver(pre_save, sender=User)
def tell_change(instance: User, update_fields: frozenset[str] | None, **_: Any) -> None:
    """That columns of an account are about to change; if that cannot be told they do not."""
    before = User.objects.filter(pk=instance.pk).first()
    if before is None or set(update_fields or ()) in BY_SIGNING_IN:
        return
    names = [field.attname for field in User._meta.concrete_fields]
    changed = [name for name in names if getattr(before, name) != getattr(instance, name)]
    if changed:
        audit_log.record(Action.CHANGED, instance, fields=changed)


@receiver(post_save, sender=User)
def tell_addition(instance: User, created: bool, **_: Any) -> None:
    """That there is a new account, and whether it may do everything."""
    if created:
        audit_log.record(Action.ADDED, instance, detail="superuser" if instance.is_superuser else "")


@receiver(pre_delete, sender=User)
def tell_deletion(instance: User, **_: Any) -> None:
    """That an account is about to be no more."""
    audit_log.record(Action.DELETED, instance)


@receiver(m2m_changed, sender=User.groups.through)
@receiver(m2m_changed, sender=User.user_permissions.through)
def tell_rights(sender: Any, instance: Model, action: str, model: Any, pk_set: set[int] | None, **_: Any) -> None:
    """Which groups or permissions somebody was given or lost."""
    if action == "pre_clear" or (action in ("post_add", "post_remove") and pk_set):
        names = ", ".join(map(str, model.objects.filter(pk__in=pk_set or ()).order_by("pk")))
        audit_log.record(Action.CHANGED, instance, fields=[GIVEN[sender]], detail=f"{action.partition('_')[2]} {names}")
        if isinstance(instance, User):
            exports.forget(instance)


@receiver(post_save, sender=MerchantAccess)
def tell_limit(instance: MerchantAccess, **_: Any) -> None:
    """That somebody works for one merchant more."""
    _tell_of_limit(instance, "add")


@receiver(post_delete, sender=MerchantAccess)
def tell_lost_limit(instance: MerchantAccess, **_: Any) -> None:
    """That somebody works for one merchant less."""
    _tell_of_limit(instance, "remove")


def tell_factor(sender: Any, instance: Any, **_: Any) -> None:
    """That somebody has one more second factor to sign in with."""
    if instance.confirmed and not sender.objects.filter(pk=instance.pk, confirmed=True).exists():
        _tell_of_factor(instance, "added")


def tell_lost_factor(instance: Any, **_: Any) -> None:
    """That a second factor lets nobody in any more."""
    if instance.confirmed:
        _tell_of_factor(instance, "removed")


# One by one: where somebody hears of every model, each deletion reads its rows first.
for factor in (Authenticator, TOTPDevice, WebAuthnCredential):
    pre_save.connect(tell_factor, sender=factor)
for factor in (Authenticator, TOTPDevice, WebAuthnCredential, RecoveryCodes, StaticDevice):
    post_delete.connect(tell_lost_factor, sender=factor)


def _tell_of_factor(device: Any, what: str) -> None:
    detail = f"{device._meta.verbose_name} {what}"
    audit_log.record(Action.CHANGED, device.user, fields=["second_factors"], detail=detail)


def _tell_of_limit(access: MerchantAccess, what: str) -> None:
    detail = f"{what} {public_id('mer', access.merchant_id)}"
    audit_log.record(Action.CHANGED, access.operator, fields=["merchants"], detail=detail)
    exports.forget(access.operator)
