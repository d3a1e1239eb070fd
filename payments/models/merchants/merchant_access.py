from collections.abc import Set as AbstractSet
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.db import models
from django.db.models import F, Q

from payments.models.merchants.merchant import Merchant

# The merchants that an operator works for; None for all.
Limit = AbstractSet[UUID] | None
# The permission to work for all merchants.
WORKS_FOR_ALL = "payments.work_for_all_merchants"


def within(limit: Limit, lookup: str) -> Q:
    """Return the condition that `lookup` is one of the merchants of `limit`, if there is a limit."""
    return Q() if limit is None else Q(**{f"{lookup}__in": limit})


class MerchantAccessQuerySet(models.QuerySet["MerchantAccess"]):
    def limit_of(self, operator: AbstractUser | AnonymousUser) -> Limit:
        """Return the merchants that an operator works for; None for all, by permission only."""
        if operator.has_perm(WORKS_FOR_ALL):
            return None
        return frozenset(self.filter(operator_id=operator.pk).values_list("merchant_id", flat=True))


class MerchantAccess(models.Model):
    """A merchant that an operator works for. Without such rows and the permission for all, they work for none."""

    operator = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="merchant_access", db_index=False
    )
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+")

    objects = MerchantAccessQuerySet.as_manager()

    class Meta:
        verbose_name = "merchant that they work for"
        verbose_name_plural = "merchants that they work for, if not for all"
        # The permission to change a user covers these rows.
        default_permissions = ()
        permissions = [("work_for_all_merchants", "Works for all merchants")]
        constraints = [models.UniqueConstraint(F("operator"), F("merchant"), name="merchant_access_once")]

    def __str__(self) -> str:
        return str(self.merchant)
