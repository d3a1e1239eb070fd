"""Signal receivers that write to the audit log: changes of operators' accounts, signing in and signing out.

By signals, because an account is changed on pages, by commands and by its owner. What cannot be recorded does not
happen.
"""

from typing import Any

from allauth.mfa.base.internal.flows import delete_dangling_recovery_codes
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Group, User
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.db.models import Model, QuerySet
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_delete, pre_save
from django.dispatch import Signal, receiver

from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.ids import public_id
from payments.models import MerchantAccess
from payments.staff.roles import note_growth

# What Django itself writes when somebody signs in: the time, and the password's hash where that is to be stronger.
BY_SIGNING_IN = ({"last_login"}, {"password"})
FACTORS = {"totp": "authenticator app", "webauthn": "passkey", "recovery_codes": "recovery codes"}
GIVEN = {User.groups.through: "groups", User.user_permissions.through: "user_permissions"}


@receiver(pre_save, sender=User)
def record_change(instance: User, update_fields: frozenset[str] | None, **_: Any) -> None:
    """Record that columns of an account are about to change."""
    before = User.objects.filter(pk=instance.pk).first()
    if before is None or set(update_fields or ()) in BY_SIGNING_IN:
        return
    names = [field.attname for field in User._meta.concrete_fields]
    changed = [name for name in names if getattr(before, name) != getattr(instance, name)]
    if changed:
        if _grew(before, instance):
            note_growth(instance)
        notice = _notice_of_superuser(instance.is_superuser and not before.is_superuser)
        audit_log.record(Action.CHANGED, instance, fields=changed, **notice)


@receiver(post_save, sender=User)
def record_addition(instance: User, created: bool, **_: Any) -> None:
    """Record a new account, and whether it is a superuser."""
    if created:
        audit_log.record(Action.ADDED, instance, **_notice_of_superuser(instance.is_superuser))


@receiver(pre_delete, sender=User)
def record_deletion(instance: User, **_: Any) -> None:
    """Record that an account is about to be deleted."""
    audit_log.record(Action.DELETED, instance)


@receiver(m2m_changed, sender=User.groups.through)
@receiver(m2m_changed, sender=User.user_permissions.through)
def record_rights(sender: Any, instance: Model, action: str, model: Any, pk_set: set[int] | None, **_: Any) -> None:
    """Record which groups or permissions an account was given or lost."""
    if action == "pre_clear" or (action in ("post_add", "post_remove") and pk_set):
        names = ", ".join(map(str, model.objects.filter(pk__in=pk_set or ()).order_by("pk")))
        detail, is_more = f"{action.partition('_')[2]} {names}", action == "post_add"
        if is_more:
            note_growth(*([instance] if isinstance(instance, User) else User.objects.filter(pk__in=pk_set or ())))
        given = model.objects.filter(pk__in=pk_set or ()) if isinstance(instance, User) else _only(instance)
        notice_of = audit_log.EVERYBODY if is_more and _lets_approve(given) else None
        audit_log.record(Action.CHANGED, instance, fields=[GIVEN[sender]], detail=detail, notice_of=notice_of)


@receiver([post_save, post_delete], sender=MerchantAccess)
def record_access(signal: Signal, instance: MerchantAccess, created: bool = False, **_: Any) -> None:
    """Record that a user works for one merchant more, or less, or has another role there."""
    verb = "remove" if signal is post_delete else "add" if created else "change"
    detail = f"{verb} {public_id('mer', instance.merchant_id)} {instance.role}".rstrip()
    audit_log.record(Action.CHANGED, instance.user, fields=["merchants"], detail=detail)


@receiver([post_save, post_delete], sender=Authenticator)
def record_factor(signal: Signal, instance: Authenticator, created: bool = False, **_: Any) -> None:
    """Record a new second factor, or that one was removed; recovery codes go with the last factor."""
    if created or signal is post_delete:
        detail = f"{FACTORS[instance.type]} {'added' if created else 'removed'}"
        audit_log.record(Action.CHANGED, instance.user, fields=["second_factors"], detail=detail)
    if signal is post_delete:
        delete_dangling_recovery_codes(instance.user)


@receiver(user_logged_in)
def record_sign_in(user: User, **_: Any) -> None:
    """Record that `user` is signed in."""
    audit_log.record(Action.SIGNED_IN, user)


@receiver(user_logged_out)
def record_sign_out(user: User | None, **_: Any) -> None:
    """Record that `user` has signed out."""
    if user:
        audit_log.record(Action.SIGNED_OUT, user)


def _only(row: Model) -> QuerySet[Any]:
    return type(row)._default_manager.filter(pk=row.pk)


def _lets_approve(given: QuerySet[Any]) -> bool:
    """Return whether groups or permissions let somebody decide what another asked for."""
    lookup = "permissions__codename" if given.model is Group else "codename"
    return given.filter(**{f"{lookup}__startswith": "decide_"}).exists()


def _grew(before: User, after: User) -> bool:
    return any(getattr(after, name) and not getattr(before, name) for name in ("is_active", "is_staff", "is_superuser"))


def _notice_of_superuser(is_news: bool) -> dict[str, Any]:
    """Return what an entry says of an account that has become a superuser: the inbox has it."""
    return {"detail": "superuser", "notice_of": audit_log.EVERYBODY} if is_news else {}
