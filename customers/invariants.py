"""Invariants of customers and of the sources kept for them."""

from payments.invariants.history import events_of
from payments.invariants.invariant import Invariant

TABLES = {"customer": "customers_customer"}
CUSTOMERS_HAVE_THEIR_EVENTS = events_of("customer", model="customers.Customer", prefix="cus")
KEPT_SOURCES_ARE_VAULTED = Invariant(
    name="kept_sources_are_vaulted",
    sentence="A source is vaulted exactly while it is kept for a customer.",
    model="payments.Source",
    prefix="src",
    query="""
        SELECT s.id FROM source s LEFT JOIN customers_customersource k ON k.source_id = s.id AND k.detached_at IS NULL
        WHERE s.vaulted <> (k.id IS NOT NULL)
    """,
)
CHARGES_KNOW_THEIR_CUSTOMER = Invariant(
    name="charges_know_their_customer",
    sentence="Each charge names the customer whom its source is or was kept for, and of others none.",
    model="payments.Charge",
    prefix="ch",
    query="""
        SELECT c.id FROM charge c LEFT JOIN customers_customersource k ON k.source_id = c.source_id
        WHERE c.customer_id IS DISTINCT FROM k.customer_id
    """,
)
INVARIANTS = (CUSTOMERS_HAVE_THEIR_EVENTS, KEPT_SOURCES_ARE_VAULTED, CHARGES_KNOW_THEIR_CUSTOMER)
