from customers.models import CustomerSource
from payments.domain.caller import Caller
from payments.ids import parse_id
from payments.models.charge import ChargeQuerySet


def charges_of_customer(rows: ChargeQuerySet, _: Caller, text: str) -> ChargeQuerySet:
    """`rows` on sources that are, or once were, kept for the customer of this public ID; none where there is none."""
    uuid = parse_id("cus", text)
    if uuid is None:
        return rows.none()
    ties = CustomerSource.objects.filter(customer_id=uuid)
    return rows.filter(source_id__in=ties.values("source_id"))
