from django.db.models import Subquery
from django.db.models.expressions import Combinable

from customers.models import CustomerSource


def email_of_source(source_id: Combinable) -> Subquery:
    """In a query, the address of the customer for whom the source of this ID is kept; null for none."""
    kept = CustomerSource.objects.filter(source_id=source_id, detached_at__isnull=True)
    return Subquery(kept.values("customer__email")[:1])
