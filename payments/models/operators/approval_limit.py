from typing import Any

from django.db import models
from django.db.models import F, Q
from django.db.models.lookups import Exact, IsNull
from django.utils.translation import gettext_lazy as _

from payments.db.checks import checks
from payments.models.charging.charge import AMOUNT_MAX
from payments.models.merchants.merchant import Merchant


class ApprovalLimit(models.Model):
    """The amount up to which money goes back without approval, in one currency.

    It is of a role of operators, who without one give back nothing alone, or of a merchant, whose people without one
    give back a whole charge.
    """

    role: Any = models.ForeignKey(
        "auth.Group", models.CASCADE, null=True, blank=True, related_name="approval_limits", db_index=False
    )
    merchant: Any = models.ForeignKey(Merchant, models.PROTECT, null=True, blank=True, related_name="+", db_index=False)
    currency = models.CharField(max_length=3)
    amount = models.BigIntegerField()

    class Meta:
        verbose_name = _("approval limit")
        verbose_name_plural = _("approval limits")
        # No deletion, because a migration restores a missing default: set the amount to zero instead.
        default_permissions = ("view", "add", "change")
        constraints = [
            models.UniqueConstraint(F("role"), F("currency"), name="one_approval_limit_per_role_and_currency"),
            models.UniqueConstraint(F("merchant"), F("currency"), name="one_approval_limit_per_merchant_and_currency"),
            *checks(
                approval_limit_of_a_role_or_a_merchant=Exact(IsNull(F("role"), True), IsNull(F("merchant"), False)),
                approval_limit_in_bounds=Q(amount__gte=0, amount__lte=AMOUNT_MAX),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role or self.merchant}, {self.currency}"
