from django.db import models
from django.db.models import F, Q

from payments.models.charging.charge import AMOUNT_MAX


class ApprovalLimit(models.Model):
    """The amount up to which a role gives money back without approval, in one currency; without one, none."""

    role = models.ForeignKey("auth.Group", models.CASCADE, related_name="approval_limits", db_index=False)
    currency = models.CharField(max_length=3)
    amount = models.BigIntegerField()

    class Meta:
        verbose_name = "approval limit"
        verbose_name_plural = "approval limits"
        # No deletion, because a migration restores a missing default: set the amount to zero instead.
        default_permissions = ("view", "add", "change")
        constraints = [
            models.UniqueConstraint(F("role"), F("currency"), name="one_approval_limit_per_role_and_currency"),
            models.CheckConstraint(name="approval_limit_in_bounds", condition=Q(amount__gte=0, amount__lte=AMOUNT_MAX)),
        ]

    def __str__(self) -> str:
        return f"{self.role}, {self.currency}"
