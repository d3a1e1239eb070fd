"""Customers and kept cards that come from another provider: each once, by its ID there, however often it is sent."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import transaction

from customers.domain.changes import of_customer
from customers.domain.customers import written
from customers.domain.kept_sources import SOURCES_MAX
from customers.event_types import CUSTOMER_CREATED
from customers.models import Customer, CustomerSource
from payments import sourcetypes
from payments.db.writes import BulkInsert, Write, execute_writes
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.cards.card_data import new_card
from payments.domain.shared.caller import Caller, mode_name
from payments.domain.sources import kept_card
from payments.ids import imported_id, parse_id, public_id
from payments.models import Merchant, Source
from payments.vault import card_fingerprint, import_fingerprint

# The member of `metadata` with an object's ID where it comes from.
IMPORTED = "imported_id"
BATCH = 200  # rows of one statement
VALID, NEW, KNOWN, REFUSED = "valid", "imported", "known", "refused"


@dataclass(slots=True)
class Imported:
    """A row with its `result` and what there is to say; without a customer there is nothing to store."""

    line: int
    row_id: str = ""
    card_id: str = ""
    result: str = VALID
    reason: str = ""
    customer: Customer | None = None
    source: Source | None = None


def sealed(caller: Caller, line: int, row: dict[str, Any], moment: datetime) -> Imported:
    """Return what a row with valid members stores, made at `moment`, its card sealed. Raise VaultUnavailable."""
    owner = {"merchant_id": caller.merchant_id, "livemode": caller.livemode}
    owner |= {"created_at": moment, "updated_at": moment}
    where = caller.merchant_id.hex, mode_name(caller.livemode), row["customer_id"]
    customer = Customer(id=imported_id(import_fingerprint("customer", *where)), **owner, **row["customer"])
    customer.email, metadata = written(customer.email), customer.metadata or {}
    customer.metadata = metadata | {IMPORTED: row["customer_id"]}
    made = Imported(line, row["customer_id"], row.get("card_id", ""), customer=customer)
    if "card" in row:
        # Without an ID of its own a card is itself.
        card_id = made.card_id or card_fingerprint(row["card"]["number"]).hex()
        about = {name: row.get(name) for name in ("consent", "owner", "metadata")}
        kept = {"type": sourcetypes.CARD, "used": True, "vaulted": True, "customer_id": customer.id}
        made.source = Source(id=imported_id(import_fingerprint("source", *where, card_id)), **owner, **about, **kept)
        if made.card_id:
            made.source.metadata = (made.source.metadata or {}) | {IMPORTED: made.card_id}
        card = new_card(made.source, row["card"])
        vars(card).update(kept_card(card), network_reference=row.get("reference", ""))
        if card.expiring_at and card.expiring_at <= moment:
            # The result says so, and no event.
            card.expiring_at, made.reason = None, f"The card expires in {card.exp_month}/{card.exp_year}."
    return made


def store(caller: Caller, to: Merchant, rows: Iterator[Imported], about: str, events: bool) -> Iterator[list[Imported]]:
    """Insert what is not there yet; yield batches of rows with their result. The audit log has begin and end."""
    counts: Counter[str] = Counter()
    audit_log.record(Action.ADDED, to, detail=f"customers imported, {about}")
    while batch := list(islice(rows, BATCH)):
        _store(caller, [row for row in batch if row.customer], events)
        counts.update(row.result for row in batch)
        yield batch
    audit_log.record(Action.ADDED, to, detail=f"customers imported, {about}: {dict(counts)}")


def _from_elsewhere(caller: Caller, rows: list[Any]) -> Iterator[Any]:
    """Yield the rows but for those of an export from here, of customers who are there already."""
    ids = [parse_id("cus", row.row_id) for row in rows]
    own = Customer.objects.filter(merchant_id=caller.merchant_id, livemode=caller.livemode, id__in=filter(None, ids))
    known = {public_id("cus", each.id): each for each in own}
    for row in rows:
        if row.row_id in known:
            row.result, row.customer, row.source = KNOWN, known[row.row_id], None
        else:
            yield row


@transaction.atomic
def _store(caller: Caller, rows: list[Any], events: bool) -> None:
    own: dict[str, Any] = {"merchant_id": caller.merchant_id}
    # Another import of this merchant waits, and so does who changes one of its customers.
    Merchant.objects.select_for_update(no_key=True).get(id=caller.merchant_id)
    rows = list(_from_elsewhere(caller, rows))
    wanted = Customer.objects.filter(**own, id__in={row.customer.id for row in rows}).order_by("id")
    customers, new = {customer.id: customer for customer in wanted.select_for_update()}, dict[UUID, Customer]()
    sources = Source.objects.filter(**own, id__in=[row.source.id for row in rows if row.source])
    there, made = set(sources.values_list("id", flat=True)), list[Any]()
    ties = CustomerSource.objects.filter(**own, customer__in=customers, detached_at=None)
    counts = Counter(ties.values_list("customer_id", flat=True))
    for row in rows:
        row.result = KNOWN if row.customer.id in customers else NEW
        if row.result == NEW:
            customers[row.customer.id] = new[row.customer.id] = row.customer
        customer = customers[row.customer.id]
        if row.source is None or row.source.id in there:
            continue
        row.result = NEW
        if customer.deleted_at or counts[customer.id] >= SOURCES_MAX:
            row.result, row.source = REFUSED, None
            row.reason = "The customer was deleted here, or has as many sources as are kept."
            continue
        there.add(row.source.id)
        counts[customer.id] += 1
        made.append(CustomerSource(**own, customer=customer, source=row.source))
    groups = [*new.values()], [tie.source for tie in made], [tie.source.card for tie in made], made
    writes: list[Write] = [BulkInsert(group) for group in groups if group]
    for customer in new.values() if events else ():
        customer.kept = [tie for tie in reversed(made) if tie.customer is customer]
        writes += of_customer(caller, CUSTOMER_CREATED, customer)
    if writes:
        execute_writes(*writes)
