"""The tables of customers and of the sources kept for them."""

from typing import Self
from uuid import UUID

from django.db import models
from django.db.models import F, Q, Subquery
from django.db.models.expressions import Combinable
from django.db.models.functions import Upper
from django.utils.translation import gettext_lazy as _

from payments import clock, ids
from payments.db.checks import checks
from payments.db.fields import OwnForeignKey, OwnOneToOneField, VerbatimJSONField
from payments.db.scoped_queryset import ScopedQuerySet
from payments.models import Merchant, Source


class CustomerQuerySet(ScopedQuerySet["Customer"]):
    def present(self) -> Self:
        """Return the customers that are not deleted."""
        return self.filter(deleted_at__isnull=True)

    def whole(self, merchant_id: UUID) -> Self:
        """Prefetch what rendering needs of customers of one merchant: the sources still kept, newest first."""
        kept = CustomerSource.objects.filter(merchant_id=merchant_id, detached_at__isnull=True).select_related(
            "source__card"
        )
        return self.prefetch_related(models.Prefetch("ties", kept.order_by("-id"), to_attr="kept"))


class Customer(models.Model):
    """A payer whom a merchant knows; a deleted one stays as an empty row, because its charges stay."""

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+")
    livemode = models.BooleanField()
    email = models.CharField(_("email"), max_length=254)
    mobile_number = models.CharField(_("mobile number"), max_length=25, blank=True, default="")
    description = models.CharField(_("description"), max_length=255)
    metadata = VerbatimJSONField(null=True, blank=True)
    # Counts the changes, each of which wrote one event: the guard of every update and the last event's sequence.
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(_("created at"), default=clock.now, editable=False)
    updated_at = models.DateTimeField(default=clock.now, editable=False)
    deleted_at = models.DateTimeField(null=True, blank=True)

    objects = CustomerQuerySet.as_manager()
    # Filled by `whole()`, or by hand for a customer just made.
    kept: list["CustomerSource"]

    class Meta:
        verbose_name, verbose_name_plural = _("customer"), _("customers")
        constraints = checks(
            customer_nothing_personal_once_deleted=Q(deleted_at__isnull=True) & ~Q(email="") & ~Q(description="")
            | Q(deleted_at__isnull=False, email="", mobile_number="", description="", metadata__isnull=True),
        )
        indexes = [
            models.Index(
                F("merchant"),
                F("livemode"),
                F("id"),
                name="customer_of_merchant",
                condition=Q(deleted_at__isnull=True),
            ),
            models.Index(
                F("merchant"),
                F("livemode"),
                F("email"),
                F("id"),
                name="customer_by_email",
                condition=Q(deleted_at__isnull=True),
            ),
            models.Index(Upper("email"), name="customer_any_email", condition=Q(deleted_at__isnull=True)),
        ]

    __str__ = ids.shown_as("cus")


class CustomerSource(models.Model):
    """A source kept for a customer. A source is kept for one customer at most, and an ended tie stays."""

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    # The customer's.
    merchant = models.ForeignKey(Merchant, models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    customer = OwnForeignKey(Customer, models.PROTECT, related_name="ties")
    source = OwnOneToOneField(Source, models.PROTECT, related_name="+")
    attached_at = models.DateTimeField(default=clock.now, editable=False)
    detached_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name, verbose_name_plural = _("customer source"), _("customer sources")

    def __str__(self) -> str:
        return ids.public_id("src", self.source_id)


def email_of_customer(customer_id: Combinable, merchant_id: Combinable) -> Subquery:
    """Return a subquery for the e-mail address of a merchant's customer; null for none."""
    return Subquery(Customer.objects.filter(id=customer_id, merchant_id=merchant_id).values("email")[:1])
