"""The events of customers."""

from customers.models import Customer
from customers.rendering import CUSTOMER
from payments.domain.catalogue.event_types import declare, subject

subject("customer", "cus", Customer, CUSTOMER, is_notified=True)
CUSTOMER_CREATED = declare("customer.created", "A customer was made.", "customer")
CUSTOMER_UPDATED = declare("customer.updated", "A customer was changed, or its sources were.", "customer PUT")
CUSTOMER_DELETED = declare("customer.deleted", "A customer was deleted: shown as it was last.", "customer DELETE")
