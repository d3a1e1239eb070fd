"""Sources kept for a customer, to be charged again and again, until they are detached."""

from collections.abc import Callable
from typing import Any

from django.db import transaction

from customers.domain.changes import change, lock
from customers.event_types import CUSTOMER_UPDATED
from customers.models import Customer, CustomerSource
from payments import clock
from payments.db.writes import Insert, StaleRow, Update, Write, execute_writes
from payments.domain import sources
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.catalogue.error_table import TOO_MANY_SOURCES
from payments.domain.shared import idempotency
from payments.domain.shared.caller import Caller
from payments.domain.shared.errors import conflict, not_found
from payments.domain.shared.idempotency import Result, StoredAnswer
from payments.ids import parse_id, public_id
from payments.models import Source

# Each event of a customer shows all of its sources.
SOURCES_MAX = 100


def attach(
    caller: Caller, customer_id: str, order: dict[str, Any], render: Callable[[Customer], StoredAnswer]
) -> Result[Customer]:
    """Keep an unused source for a customer, by a validated request body (`source`, `consent`).

    One that a checkout has kept for this customer only gets the consent, unless it has one. `render` makes the
    answer that is stored with it.

    Raise PaymentError `resource_missing`, `source_already_used`, `source_expired` or `too_many_sources`.
    """
    try:
        with transaction.atomic():
            record = idempotency.claim(caller)
            customer = lock(caller, customer_id)
            source = sources.find(caller, order["source"], "source")
            consent = order.get("consent")
            is_kept = source.vaulted and source.customer_id == customer.id and sources.is_of_checkout(source)
            writes = sources.add_consent(source, consent) if is_kept else _keep(caller, customer, source, consent)
            answer = render(customer)
            if record:
                writes.append(idempotency.answered(record.id, record.merchant_id, answer))
            if writes:
                execute_writes(*writes)
            return Result(customer, answer)
    except StaleRow:
        raise sources.already_used(source.id) from None


def detach(caller: Caller, customer_id: str, source_id: str) -> Customer:
    """Detach a source from a customer, destroy its card data and return the customer.

    Raise PaymentError for no such customer, or no such source among those kept for it.
    """
    with transaction.atomic():
        customer = lock(caller, customer_id)
        uuid = parse_id("src", source_id)
        tie = next((tie for tie in customer.kept if tie.source_id == uuid), None)
        if tie is None:
            raise not_found("source", text=source_id)
        customer.kept.remove(tie)
        changed, shown = change(caller, customer, CUSTOMER_UPDATED)
        execute_writes(*detach_writes(caller, tie), changed, *shown)
    return customer


@transaction.atomic
def detach_for_operator(customer: Customer, source_id: str) -> None:
    """Detach a source of `customer` for an operator, whose act is recorded. Raise PaymentError as `detach` does."""
    detach(Caller(customer.merchant_id, customer.livemode), public_id("cus", customer.pk), source_id)
    audit_log.record(Action.CHANGED, customer, fields=["sources"], detail=f"{source_id} detached")


def detach_writes(caller: Caller, tie: CustomerSource) -> list[Write]:
    """Return the writes that end a tie and destroy the card data of its source."""
    tied = {"id": tie.id, "merchant_id": tie.merchant_id, "detached_at": None}
    return [*sources.unvault(caller, tie.source), Update(CustomerSource, tied, {"detached_at": clock.now()})]


def _keep(caller: Caller, customer: Customer, source: Source, consent: dict[str, Any] | None) -> list[Write]:
    """Return the writes that keep `source` for `customer`; raise PaymentError.

    No race gets past the limit: each change of a customer changes its version, which the write is guarded by.
    """
    if len(customer.kept) >= SOURCES_MAX:
        raise conflict(TOO_MANY_SOURCES, count=SOURCES_MAX)
    return [*sources.vault(caller, source, customer.id, consent), *tie_writes(caller, customer, source)]


def tie_writes(caller: Caller, customer: Customer, source: Source) -> list[Write]:
    """Return the writes that tie a source, which others vault, to a customer."""
    tie = CustomerSource(merchant_id=customer.merchant_id, customer=customer, source=source)
    customer.kept.insert(0, tie)
    changed, shown = change(caller, customer, CUSTOMER_UPDATED)
    return [Insert(tie), changed, *shown]
