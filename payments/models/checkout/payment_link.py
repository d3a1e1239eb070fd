"""Payment links: items that are sold to many payers, each of whom pays a checkout of its own."""

from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Func, Q, Value
from django.utils.translation import gettext_lazy as _

from payments import clock, ids
from payments.db.checks import RowRules
from payments.db.fast_model import FastModel
from payments.db.fields import VerbatimJSONField
from payments.db.scoped_queryset import ScopedQuerySet
from payments.models.merchants.merchant import Merchant

SHORT_LENGTH = 10
_TRUTH = models.BooleanField()


class PaymentLinkQuerySet(ScopedQuerySet["PaymentLink"]):
    def whole(self) -> Self:
        """Return the links with their merchants, as rendering needs them."""
        return self.select_related("merchant")


class PaymentLink(FastModel):
    """Items with a stock, and the page that sells them. Its payments are checkouts that refer to it."""

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False)
    livemode = models.BooleanField()
    # What ends its address: base 62, at random.
    short = models.CharField(max_length=SHORT_LENGTH, unique=True)
    internal_name = models.CharField(_("internal name"), max_length=255)
    active = models.BooleanField(default=True)
    # The members of the request that made it, and of those that changed it, validated; `currency` as it was sent.
    order = VerbatimJSONField()
    # By item: how many there were to sell, and how many are left that no payer has bought or is buying.
    stock = ArrayField(models.IntegerField())
    remaining = ArrayField(models.IntegerField())
    # Counts the lists of items: what was bought of an earlier list is none of this stock.
    edition = models.IntegerField(default=1)
    # How many payments there are that are paid or under way.
    payments = models.IntegerField(default=0)
    # Whether nothing more can be bought, unless a payment under way ends unpaid.
    is_full = models.BooleanField(default=False)
    # The end of the day of `expiry`.
    ends_at = models.DateTimeField(null=True, blank=True)
    # Counts the changes, each of which an event shows: the sequence of the last event.
    version = models.IntegerField(default=1)
    created_at = models.DateTimeField(default=clock.now, editable=False)
    updated_at = models.DateTimeField(default=clock.now, editable=False)

    objects = PaymentLinkQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("payment link"), _("payment links")
        default_permissions = ("view",)
        permissions = [("switch_paymentlink", "Can activate and deactivate payment links")]
        constraints = [
            RowRules(
                name="payment_link_follows_rules",
                rules={
                    # The template closes the parenthesis that the joiner opens.
                    "payment_link_is_not_oversold": Func(
                        Value(0),
                        F("remaining"),
                        template="(%(expressions)s))",
                        arg_joiner=" <= ALL (",
                        output_field=_TRUTH,
                    ),
                    "payment_link_counts_each_item": Func(
                        Func(F("stock"), function="cardinality"),
                        Func(F("remaining"), function="cardinality"),
                        template="(%(expressions)s)",
                        arg_joiner=" = ",
                        output_field=_TRUTH,
                    ),
                    "payment_link_payments_are_counted": Q(payments__gte=0),
                },
            ),
        ]
        indexes = [
            models.Index(F("merchant"), F("livemode"), F("id"), name="link_of_merchant"),
            models.Index(F("merchant"), F("livemode"), F("active"), F("id"), name="link_by_state"),
            models.Index(F("ends_at"), name="link_due", condition=Q(active=True, ends_at__isnull=False)),
            models.Index(F("id"), name="link_full", condition=Q(active=True, is_full=True)),
        ]

    __str__ = ids.shown_as("plink")

    @property
    def is_sold_out(self) -> bool:
        """Return whether nothing is left of what a payer buys: one of each item, or any item where that is free."""
        left = self.remaining
        return not any(left) if self.order["allow_adjustable_quantity"] else not all(left)

    @property
    def is_at_maximum(self) -> bool:
        """Return whether the payments paid and under way are as many as there may be."""
        maximum = self.order.get("maximum_payments")
        return maximum is not None and self.payments >= maximum

    @property
    def is_past(self) -> bool:
        """Return whether its day is over."""
        return self.ends_at is not None and self.ends_at <= clock.now()
