"""Invariants of customers and of the sources kept for them."""

from payments.invariants.history import events_of
from payments.invariants.invariant import Invariant

TABLES = {"customer": "customers_customer"}
INVARIANTS = (
    events_of("customer", model="customers.Customer", prefix="cus"),
    Invariant(
        name="kept_sources_are_vaulted",
        sentence="A source is vaulted exactly while it is kept for a customer.",
        model="payments.Source",
        prefix="src",
        query="""
            SELECT s.id FROM source s
            LEFT JOIN customers_customersource k ON k.source_id = s.id AND k.detached_at IS NULL
            WHERE s.vaulted <> (k.id IS NOT NULL)
        """,
    ),
    Invariant(
        name="charges_know_their_customer",
        sentence="Each charge names the customer whom its source is or was kept for, and of others none.",
        model="payments.Charge",
        prefix="ch",
        query="""
            SELECT c.id FROM charge c LEFT JOIN customers_customersource k ON k.source_id = c.source_id
            WHERE c.customer_id IS DISTINCT FROM k.customer_id
        """,
    ),
)
