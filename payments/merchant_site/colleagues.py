"""A merchant's people: invited, given another role, and ended. At least one owner stays."""

from smtplib import SMTPException

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import send_mail
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from payments.domain.operators.four_eyes import Refused
from payments.models import Merchant, MerchantAccess
from payments.staff import invitations
from payments.staff.hosts import site_for
from payments.staff.sign_in.addresses import hold, name_from

MOST = 100
UNUSABLE = "!"  # begins the password of an account that has none
LAST_OWNER = gettext_lazy("No other owner has signed in yet. Give somebody else this role first.")
MAIL = """Hello,

{merchant} has given you access to its payments. {what}:

{link}

You sign in as {name}. If you expect no access, ignore this message.
"""
BY_LINK = "Set your password here, within {days} days and once"
SIGN_IN = "Sign in as before"


@transaction.atomic
def add(merchant: Merchant, name: str, email: str, role: str) -> MerchantAccess:
    """Give the person with this e-mail address a role at `merchant`; raise Refused where they have one.

    Their account at another merchant is theirs here too, where a mail server proves whose an address is. Without one,
    who invited them there may have set its password, so that each merchant makes an account of its own.
    """
    _lock(merchant)
    people = MerchantAccess.objects.filter(merchant=merchant).exclude(role="")
    if people.filter(user__email__iexact=email).exists():
        raise Refused(_("This person is a colleague already."))
    if people.count() >= MOST:
        text = _("There are {count} colleagues, which is the most. End the access of one first.")
        raise Refused(text.format(count=MOST))
    # Another merchant may give the same person an account at this moment.
    hold(email)
    known = User.objects.filter(email__iexact=email, is_staff=False, is_active=True).order_by("pk").first()
    user = known if known and settings.EMAIL_HOST else _new_account(name, email)
    return MerchantAccess.objects.create(user=user, merchant=merchant, role=role)


def _new_account(name: str, email: str) -> User:
    user = User(username=name_from(email), first_name=name, email=email)
    user.set_unusable_password()
    user.save()
    return user


def send_address(access: MerchantAccess) -> dict[str, str] | str:
    """Send the address at which the person sets a password or signs in, and say so in words that fit both.

    Without a mail server, return the address, for the inviter to pass on.
    """
    user, is_sent = access.user, bool(settings.EMAIL_HOST)
    is_elsewhere = MerchantAccess.objects.filter(user=user).exclude(pk=access.pk).exists()
    asks_password = not user.has_usable_password() and (is_sent or not is_elsewhere)
    link = invitations.invite(user) if asks_password else _sign_in_address(user)
    if not is_sent:
        return {_("Link"): link}
    what = BY_LINK.format(days=invitations.VALID.days) if asks_password else SIGN_IN
    text = MAIL.format(merchant=access.merchant, what=what, link=link, name=user.get_username())
    try:
        send_mail("Your access to payments", text, None, [user.email])
    except (OSError, SMTPException):
        return _("The mail server did not take the message to {email}. Send it again later.").format(email=user.email)
    return _("A message is on its way to {email}.").format(email=user.email)


def _sign_in_address(user: User) -> str:
    site = site_for(user)
    return f"{site.setting('ORIGIN')}{reverse('account_login', site.urlconf)}"


@transaction.atomic
def change_role(access: MerchantAccess, role: str) -> None:
    """Give a colleague another role. Raise Refused for the last owner, and where the access has ended."""
    found = _to_change(access)
    found.role = role
    found.save(update_fields=["role"])


@transaction.atomic
def end(access: MerchantAccess) -> None:
    """End a colleague's access, from their next request on. Raise Refused as `change_role` does."""
    found = _to_change(access)
    found.delete()
    if not MerchantAccess.objects.filter(user=found.user).exists():
        invitations.withdraw(found.user)


def _to_change(access: MerchantAccess) -> MerchantAccess:
    """Return the access as it is now, with its merchant locked: of two owners who end each other, one is refused."""
    _lock(access.merchant)
    people = MerchantAccess.objects.filter(merchant=access.merchant).exclude(role="").select_related("user")
    found = people.filter(pk=access.pk).first()
    if found is None:
        raise Refused(_("This access has ended meanwhile."))
    others = people.filter(role=MerchantAccess.Role.OWNER, user__is_active=True).exclude(pk=found.pk)
    can_sign_in = others.exclude(user__password__startswith=UNUSABLE)
    if found.role == MerchantAccess.Role.OWNER and not can_sign_in.exists():
        raise Refused(LAST_OWNER)
    return found


def _lock(merchant: Merchant) -> None:
    Merchant.objects.select_for_update(no_key=True).get(pk=merchant.pk)
