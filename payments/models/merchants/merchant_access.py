from collections.abc import Set as AbstractSet
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from payments import clock
from payments.db.checks import checks
from payments.models.merchants.merchant import Merchant

# The merchants that an operator works for; None for all.
Limit = AbstractSet[UUID] | None
# The permission to work for all merchants.
WORKS_FOR_ALL = "payments.work_for_all_merchants"


def within(limit: Limit, lookup: str) -> Q:
    """Return the condition that `lookup` is one of the merchants of `limit`, if there is a limit."""
    return Q() if limit is None else Q(**{f"{lookup}__in": limit})


class MerchantAccessQuerySet(models.QuerySet["MerchantAccess"]):
    def limit_of(self, user: AbstractUser | AnonymousUser) -> Limit:
        """Return the merchants that an operator works for; None for all, by permission only.

        Of a merchant's own people it is the one whose site they have open.
        """
        if membership := membership_of(user):
            return frozenset({membership.merchant_id})
        if user.has_perm(WORKS_FOR_ALL):
            return None
        return frozenset(self.filter(user_id=user.pk).values_list("merchant_id", flat=True))

    def memberships(self, user: AbstractUser | AnonymousUser) -> "MerchantAccessQuerySet":
        """Return the access of one of the merchants' own people, who are no operators."""
        return self.exclude(role="").filter(user_id=user.pk, user__is_staff=False, user__is_active=True)


class MerchantAccess(models.Model):
    """A merchant that a user works for.

    An operator has no role here: without such rows and the permission for all, they work for none. The merchant's own
    people have one, and see its site in place of the back office. `name` is what the merchant calls them.
    """

    class Role(models.TextChoices):
        OWNER = "owner", _("Owner")
        FINANCE = "finance", _("Finance")
        SUPPORT = "support", _("Support")
        DEVELOPER = "developer", _("Developer")
        VIEWER = "viewer", _("Viewer")

    # Of those who approve what others ask for.
    APPROVING = (Role.OWNER, Role.FINANCE)

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="merchant_access", db_index=False)
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+")
    role = models.CharField(max_length=9, choices=Role.choices, blank=True, default="")
    name = models.CharField(max_length=150, blank=True, default="")
    # Since when the user has all rights of this row.
    rights_since = models.DateTimeField(default=clock.now, editable=False)

    objects = MerchantAccessQuerySet.as_manager()

    class Meta:
        verbose_name = _("merchant that they work for")
        verbose_name_plural = _("merchants that they work for, if not for all")
        # The permission to change a user covers these rows.
        default_permissions = ()
        permissions = [("work_for_all_merchants", "Works for all merchants")]
        constraints = [
            models.UniqueConstraint(F("user"), F("merchant"), name="merchant_access_once"),
            *checks(
                merchant_access_role_is_known=Q(role__in=["", "owner", "finance", "support", "developer", "viewer"]),
            ),
        ]

    def __str__(self) -> str:
        return str(self.merchant)


def membership_of(user: object) -> MerchantAccess | None:
    """Return the access of one of a merchant's own people to the merchant whose site they have open."""
    found: MerchantAccess | None = getattr(user, "membership", None)
    return found
