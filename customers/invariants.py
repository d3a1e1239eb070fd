"""Invariants of customers and of the sources kept for them."""

from payments.invariants.history import events_of
from payments.invariants.invariant import Invariant

INVARIANTS = (
    events_of("customer", model="customers.Customer"),
    Invariant(
        name="kept_sources_are_vaulted",
        sentence="A source is vaulted exactly while it is kept for a customer.",
        model="payments.Source",
        query="""
            SELECT s.id FROM source s
            LEFT JOIN customers_customersource k ON k.source_id = s.id AND k.detached_at IS NULL
            WHERE s.vaulted <> (k.id IS NOT NULL)
        """,
    ),
    Invariant(
        name="charges_know_their_customer",
        sentence="Each charge names the customer whom its source is or was kept for, or was to be by a subscription.",
        model="payments.Charge",
        query="""
            SELECT c.id FROM charge c LEFT JOIN customers_customersource k ON k.source_id = c.source_id
            LEFT JOIN checkout s ON s.id = c.checkout_id AND s.mode = 'subscription'
            WHERE c.customer_id IS DISTINCT FROM coalesce(k.customer_id, s.customer_id)
            OR k.customer_id <> s.customer_id
        """,
    ),
    Invariant(
        name="sessions_keep_their_card",
        sentence="The card of each paid session that keeps one is or was kept for its customer, unless a subscription's"
        " customer was deleted before the outcome.",
        model="payments.Checkout",
        query="""
            SELECT s.id FROM checkout s
            LEFT JOIN charge c ON c.checkout_id = s.id AND c.status <> 'failed'
            LEFT JOIN customers_customersource k ON k.source_id = coalesce(c.source_id, s.check_source_id)
            LEFT JOIN customers_customer u ON u.id = s.customer_id
            WHERE s.mode IN ('subscription', 'save_card') AND s.state = 'paid'
            AND k.customer_id IS DISTINCT FROM s.customer_id
            AND (s.mode = 'save_card' OR u.deleted_at IS NULL)
        """,
    ),
)
