"""A merchant's people: invited, given another role, and ended. At least one owner stays."""

from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from payments import clock
from payments.domain.messages.delivery import send_at_once
from payments.domain.operators.four_eyes import Refused
from payments.inbox.announcements import warn_owners
from payments.models import Merchant, MerchantAccess
from payments.staff import invitations
from payments.staff.merchant_roles import PERMISSIONS
from payments.staff.sign_in.addresses import folded, hold, name_from

MOST = 100
# Links that a merchant's people send in a day: what strangers get in the service's name.
LINKS_A_DAY = 30
DAY_SECONDS = 24 * 3600
UNUSABLE = "!"  # begins the password of an account that has none
OPENED = gettext_lazy("This person has opened the invitation already.")
LAST_OWNER = gettext_lazy("No other owner has signed in yet. Give somebody else this role first.")


@transaction.atomic
def add(merchant: Merchant, name: str, email: str, role: str) -> MerchantAccess:
    """Give the person who opens the link sent to this address a role at `merchant`; raise Refused for a colleague.

    It is given to an account that nobody can sign in to. By the link it gets a password, or the access goes to the
    account with which the link was opened. No account is found by its address, which proves nothing.
    """
    _lock(merchant)
    people = MerchantAccess.objects.filter(merchant=merchant).exclude(role="")
    if email in map(folded, people.values_list("user__email", flat=True)):
        raise Refused(_("This person is a colleague already."))
    if people.count() >= MOST:
        text = _("There are {count} colleagues, which is the most. End the access of one first.")
        raise Refused(text.format(count=MOST))
    _count_link(merchant)
    # Another merchant may make an account with this name at this moment.
    hold(email)
    user = User(username=name_from(email), first_name=name, email=email)
    user.set_unusable_password()
    user.save()
    access = MerchantAccess.objects.create(user=user, merchant=merchant, role=role, name=name)
    warn_owners(access, "was invited")
    return access


@transaction.atomic
def send_again(access: MerchantAccess) -> dict[str, str] | str:
    """Send a new link in place of the one before. Raise Refused where it was opened, or too many went out today."""
    found = _as_it_is(access)
    if not is_invited(found):
        raise Refused(OPENED)
    _count_link(found.merchant)
    return send_link(found)


def send_link(access: MerchantAccess) -> dict[str, str] | str:
    """Send the link of an invitation, and say so; without a mail server return it, for the inviter to pass on."""
    user = access.user
    link = invitations.invite(user)
    if not settings.EMAIL_HOST:
        return {_("Link"): link}
    values = {"merchant": access.merchant.title, "days": invitations.VALID.days, "name": user.get_username()}
    if not send_at_once(user.email, "Your access to payments", "colleague", link=link, **values):
        return _("The mail server did not take the message to {email}. Send it again later.").format(email=user.email)
    return _("A message is on its way to {email}.").format(email=user.email)


def _count_link(merchant: Merchant) -> None:
    """Count a link of today; raise Refused beyond LINKS_A_DAY. The merchant is locked."""
    key = f"invitations:{merchant.pk}:{clock.now():%Y-%m-%d}"
    sent = cache.get(key, 0)
    if sent >= LINKS_A_DAY:
        text = _("{count} invitations were sent today, which is the most. Send more tomorrow.")
        raise Refused(text.format(count=sent))
    cache.set(key, sent + 1, DAY_SECONDS)


@transaction.atomic
def change_role(access: MerchantAccess, role: str) -> None:
    """Give a colleague another role. Raise Refused for the last owner, and where the access has ended."""
    found = _to_change(access)
    has_more = PERMISSIONS[role] - PERMISSIONS[found.role]
    found.role, found.rights_since = role, clock.now() if has_more else found.rights_since
    found.save(update_fields=["role", "rights_since"])
    if has_more:
        warn_owners(found, "has more rights")


@transaction.atomic
def end(access: MerchantAccess) -> None:
    """End a colleague's access, from their next request on. Raise Refused as `change_role` does."""
    found = _to_change(access)
    found.delete()
    if is_invited(found):
        found.user.delete()


def is_invited(access: MerchantAccess) -> bool:
    """Return whether nobody has opened the link yet."""
    return not access.user.has_usable_password()


def _to_change(access: MerchantAccess) -> MerchantAccess:
    """Return the access as it is now; of two owners who end each other, one is refused."""
    found = _as_it_is(access)
    people = MerchantAccess.objects.filter(merchant=access.merchant)
    others = people.filter(role=MerchantAccess.Role.OWNER, user__is_active=True).exclude(pk=found.pk)
    can_sign_in = others.exclude(user__password__startswith=UNUSABLE)
    if found.role == MerchantAccess.Role.OWNER and not can_sign_in.exists():
        raise Refused(LAST_OWNER)
    return found


def _as_it_is(access: MerchantAccess) -> MerchantAccess:
    """Return the access as it is now, with its merchant locked. Raise Refused where it has ended."""
    _lock(access.merchant)
    people = MerchantAccess.objects.filter(merchant=access.merchant).exclude(role="").select_related("user")
    found = people.filter(pk=access.pk).first()
    if found is None:
        raise Refused(_("This access has ended meanwhile."))
    return found


def _lock(merchant: Merchant) -> None:
    Merchant.objects.select_for_update(no_key=True).get(pk=merchant.pk)
