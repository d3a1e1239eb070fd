from typing import Any

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorExact, SearchVectorField
from django.db import models
from django.db.models import Q

from payments.db.checks import checks
from payments.models.merchants.merchant import Merchant


class Lexemes(SearchVectorField):
    """Lexemes that were made outside of PostgreSQL, and are compared as they are."""


@Lexemes.register_lookup
class MeetsQuery(SearchVectorExact):
    """The condition that lexemes meet a `tsquery`, which is in its text form."""

    lookup_name = "meet"

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[str | int, ...]]:
        left, params = self.process_lhs(compiler, connection)
        return f"{left} @@ %s::tsquery", (*params, self.rhs)


class SearchEntry(models.Model):
    """What one object is found by; a worker makes it from the events (`payments.search.sweep`)."""

    class Kind(models.TextChoices):
        CHARGE = "charge"
        CUSTOMER = "customer"
        CHECKOUT = "checkout"
        LINK = "link"

    # The ID of the object itself, so that entries are in the order of creation.
    id = models.UUIDField(primary_key=True)
    kind = models.CharField(max_length=8, choices=Kind.choices)
    merchant = models.ForeignKey(Merchant, models.CASCADE, related_name="+", db_index=False)
    livemode = models.BooleanField()
    lexemes = Lexemes()

    class Meta:
        default_permissions = ()
        indexes = [
            GinIndex("lexemes", name="search_of_charges", condition=Q(kind="charge"), gin_pending_list_limit=64),
            GinIndex("lexemes", name="search_of_customers", condition=Q(kind="customer"), gin_pending_list_limit=64),
            GinIndex("lexemes", name="search_of_checkouts", condition=Q(kind="checkout"), gin_pending_list_limit=64),
            GinIndex("lexemes", name="search_of_links", condition=Q(kind="link"), gin_pending_list_limit=64),
        ]
        constraints = checks(
            search_kind_is_known=Q(kind__in=["charge", "customer", "checkout", "link"]),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"


class SearchProgress(models.Model):
    """How far the events were read: one row, which one worker locks at a time."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    # The last event that was read; none before the first.
    event_id = models.UUIDField(null=True)
    # Everything committed before this moment can be found.
    complete_to = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()
        constraints = checks(
            one_search_progress=Q(id=1),
        )

    def __str__(self) -> str:
        return f"up to {self.complete_to}"
