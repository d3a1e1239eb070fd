"""Invitations: links, each for one account and one use, by which people set their own passwords.

Who has an account already opens a merchant's invitation with that, in place of the one that it was made with.
"""

import secrets
from datetime import timedelta

from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from payments import clock
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.messages.delivery import send_at_once
from payments.domain.operators.four_eyes import Refused
from payments.inbox.announcements import warn_owners
from payments.models import MerchantAccess
from payments.staff.models import Invitation
from payments.staff.roles import note_growth
from payments.staff.sites import site_for
from payments.vault.fingerprints import invitation_fingerprint

VALID = timedelta(days=3)
TOKEN_BYTES = 32


class InvitationOver(Exception):
    """An error: the link was used, withdrawn or replaced, or has expired."""


@transaction.atomic
def invite(user: User) -> str:
    """Replace the invitation of `user`; return its link, of which only a fingerprint is stored."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    values = {"digest": invitation_fingerprint(token), "expires_at": clock.now() + VALID}
    Invitation.objects.update_or_create(user=user, defaults=values)
    audit_log.record(Action.CHANGED, user, fields=["invitation"], detail="link made")
    site = site_for(user)
    return f"{site.setting('ORIGIN')}{reverse('admin:invitation', site.urlconf, [token])}"


def send(user: User, link: str) -> bool:
    """Send `link` to the user's e-mail address; return whether the mail server took it."""
    values = {"name": user.get_username(), "days": VALID.days}
    return send_at_once(user.email, "Your account at kaha", "invitation", link=link, **values)


@transaction.atomic
def withdraw(user: User) -> bool:
    """Delete the invitation of `user`; return whether there was one."""
    deleted, _models = Invitation.objects.filter(user=user).delete()
    if deleted:
        audit_log.record(Action.CHANGED, user, fields=["invitation"], detail="link withdrawn")
    return bool(deleted)


def user_of(token: str) -> User | None:
    """Return the active operator whom the link with `token` invites; None if it does not work (any more)."""
    invitation = _open(token).select_related("user").first()
    return invitation.user if invitation else None


@transaction.atomic
def accept(token: str, form: SetPasswordForm) -> None:
    """Use the link up and set the password of a valid `form`; raise InvitationOver if somebody used it first."""
    _use_up(token)
    # Whose account it was before: who has the link now is somebody new.
    note_growth(form.user)
    form.save()
    for access in MerchantAccess.objects.filter(user=form.user).exclude(role=""):
        warn_owners(access, "has access")


@transaction.atomic
def take(token: str, invited: User, user: User) -> MerchantAccess:
    """Use the link up and give `user`, who is signed in, the access of the account `invited`, which ends.

    Raise InvitationOver if somebody used it first, and Refused where they work for the merchant already.
    """
    _use_up(token)
    access = MerchantAccess.objects.select_related("merchant").get(user=invited)
    if MerchantAccess.objects.filter(user=user, merchant=access.merchant).exists():
        raise Refused(_("You work for this merchant already."))
    access.user, access.rights_since = user, clock.now()
    access.save(update_fields=["user", "rights_since"])
    invited.delete()
    warn_owners(access, "has access")
    return access


def _use_up(token: str) -> None:
    deleted, _models = _open(token).delete()
    if deleted != 1:
        raise InvitationOver


def _open(token: str) -> QuerySet[Invitation]:
    digest = invitation_fingerprint(token)
    return Invitation.objects.filter(digest=digest, expires_at__gt=clock.now(), user__is_active=True)
