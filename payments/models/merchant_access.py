from collections.abc import Set as AbstractSet
from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from payments.models.merchant import Merchant

# The merchants that somebody is limited to; None for whoever is not limited.
Limit = AbstractSet[UUID] | None


def within(limit: Limit, lookup: str) -> Q:
    """The condition that `lookup` leads to one of the merchants of `limit`, if there is one."""
    return Q() if limit is None else Q(**{f"{lookup}__in": limit})


class MerchantAccessQuerySet(models.QuerySet["MerchantAccess"]):
    def limit_of(self, operator_id: int | None) -> Limit:
        """The merchants that an operator is limited to; None where they are not."""
        return frozenset(self.filter(operator_id=operator_id).values_list("merchant_id", flat=True)) or None


class MerchantAccess(models.Model):
    """One of the merchants that an operator is limited to; whoever has no such row works for all of them."""

    operator = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="merchant_access", db_index=False
    )
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+")

    objects = MerchantAccessQuerySet.as_manager()

    class Meta:
        verbose_name = "merchant that they are limited to"
        verbose_name_plural = "merchants that they are limited to"
        # Whoever may change an operator may limit them.
        default_permissions = ()
        constraints = [models.UniqueConstraint(F("operator"), F("merchant"), name="merchant_access_once")]

    def __str__(self) -> str:
        return str(self.merchant)
