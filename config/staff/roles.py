"""What each role may do, as groups that every `migrate` sets to exactly this."""

from typing import Any

from django.contrib.auth.models import Group, Permission
from django.db import transaction
from django.db.models import Q

# Every role sees every page of the service, also one that comes later; but what people did is for those who lead them.
LOOK = Q(codename__startswith="view_", content_type__app_label__in=["payments", "simulator", "customers"])
LOOK &= ~Q(codename="view_auditentry")

VIEWER = frozenset[str]()
SUPPORT = VIEWER | {"payments.change_notification", "payments.look_up_unknownoutcome"}
FINANCE = SUPPORT | {
    "payments.propose_correction",
    "payments.approve_correction",
    "payments.close_reconciliationitem",
}
ADMINISTRATOR = VIEWER | {
    "payments.view_auditentry",
    "payments.change_merchant",
    "payments.add_binrange",
    "payments.change_binrange",
    "payments.delete_binrange",
    "auth.view_group",
    "auth.view_user",
    "auth.add_user",
    "auth.change_user",
    "staff.view_authenticator",
    "staff.delete_authenticator",
    "staff.view_recoverycodes",
    "staff.delete_recoverycodes",
    "django_otp_webauthn.view_webauthncredential",
    "django_otp_webauthn.delete_webauthncredential",
}
ROLES = {"viewer": VIEWER, "support": SUPPORT, "finance": FINANCE, "administrator": ADMINISTRATOR}


@transaction.atomic
def make_roles(**_: Any) -> None:
    """Gives each role's group its permissions and no others. Raises LookupError where one does not exist."""
    for name, permissions in ROLES.items():
        group, _created = Group.objects.get_or_create(name=name)
        group.permissions.set([*Permission.objects.filter(LOOK), *map(_permission, sorted(permissions))])


def _permission(name: str) -> Permission:
    app_label, _, codename = name.partition(".")
    return Permission.objects.get(content_type__app_label=app_label, codename=codename)
