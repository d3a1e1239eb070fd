from django.db import models
from django.db.models import F, Q

from payments import clock, ids, sourcetypes
from payments.db.checks import checks
from payments.models.routing.provider_account import ProviderAccount


class Route(models.Model):
    """A rule that sends live charges to a provider account; a merchant's routes are tried in order of `position`."""

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    account = models.ForeignKey(ProviderAccount, models.PROTECT, related_name="routes")
    source_type = models.CharField(max_length=20)
    # Empty for any currency; the bounds are in its smallest unit, empty for none.
    currency = models.CharField(max_length=3, blank=True, default="")
    amount_min = models.BigIntegerField(null=True, blank=True)
    amount_max = models.BigIntegerField(null=True, blank=True)
    position = models.PositiveSmallIntegerField(default=0)
    # Limits of this account where its connector could do more.
    hold = models.BooleanField(default=True)
    refund = models.BooleanField(default=True)
    partial_refund = models.BooleanField(default=True)
    enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=clock.now, editable=False)
    updated_at = models.DateTimeField(default=clock.now, editable=False)

    class Meta:
        default_permissions = ("view",)
        permissions = [("change_route", "Can make and change routes")]
        constraints = checks(
            route_source_type_is_known=Q(source_type__in=sourcetypes.NAMES),
            route_currency_is_a_code=Q(currency__regex=r"^([A-Z]{3})?$"),
            route_amounts_are_a_range=(Q(amount_min__isnull=True) | Q(amount_min__gte=1))
            & (Q(amount_max__isnull=True) | Q(amount_max__gte=1))
            & (Q(amount_min__isnull=True) | Q(amount_max__isnull=True) | Q(amount_max__gte=F("amount_min"))),
            # Bounds make sense only in one currency.
            route_amounts_are_of_a_currency=Q(amount_min__isnull=True, amount_max__isnull=True) | ~Q(currency=""),
            route_partial_refund_is_a_refund=Q(partial_refund=False) | Q(refund=True),
        )

    def __str__(self) -> str:
        return f"{sourcetypes.shown(self.source_type).label} {self.currency}".strip()
