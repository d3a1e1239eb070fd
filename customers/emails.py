from django.db.models import Subquery
from django.db.models.expressions import Combinable

from customers.models import CustomerSource


def email_of_source(source_id: Combinable) -> Subquery:
    """Return a subquery for the e-mail address of the customer who keeps the source; null for none."""
    kept = CustomerSource.objects.filter(source_id=source_id, detached_at__isnull=True)
    return Subquery(kept.values("customer__email")[:1])
