from uuid import UUID

from django.db.models import QuerySet

from customers.models import CustomerSource


def sources_by_email(text: str) -> "QuerySet[CustomerSource, UUID]":
    """The IDs of the sources that are or were kept for whoever has this e-mail address, in any case."""
    if "@" not in text:
        return CustomerSource.objects.none().values_list("source_id", flat=True)
    ties = CustomerSource.objects.filter(customer__email__iexact=text, customer__deleted_at__isnull=True)
    return ties.values_list("source_id", flat=True)
