"""What a charge's dossier tells of the customer for whom its source was kept."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

from customers.models import Customer, CustomerSource
from payments.admin.framework.formats import link, utc
from payments.admin.timeline.panels import Panel, panel_with, shown_beside
from payments.models import Charge


@shown_beside
def customer_panel(request: HttpRequest, charge: Charge, charges: QuerySet[Any]) -> Panel | None:
    """The customer and their other charges, on whatever source; for who may see customers."""
    tie = CustomerSource.objects.filter(source=charge.source_id).select_related("customer").first()
    if tie is None or not request.user.has_perm("customers.view_customer"):
        return None
    customer, kept = tie.customer, CustomerSource.objects.filter(customer=tie.customer_id)
    facts: list[tuple[str, object]] = [("Customer", link(Customer, customer.pk, customer))]
    facts += [("E-mail", customer.email), ("Mobile", customer.mobile_number), ("Description", customer.description)]
    facts.append(("Since (UTC)", utc(customer.created_at)))
    shown = [(name, value) for name, value in facts if value]
    return panel_with("Customer", shown, charges.filter(source__in=kept.values("source")))
