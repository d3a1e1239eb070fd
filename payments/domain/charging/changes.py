"""Changes as values: the rules return them, one statement writes them, and they reach the rows in memory afterwards."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from payments.db.fast_model import copy_with
from payments.db.writes import Insert, Update, Write
from payments.domain.cards.card_data import expiring_at
from payments.domain.catalogue.event_types import REFUND_CREATED, SOURCE_UPDATED
from payments.domain.charging.checkouts import checkout_progress
from payments.domain.messages.receipts import receipt_of
from payments.domain.shared import events
from payments.domain.shared.caller import Caller
from payments.ledger import movements
from payments.ledger.movements import Movement
from payments.models import Attempt, Card, Charge, Refund, Source
from payments.models.charging.source import NETWORK_REFERENCE_MAX_LENGTH, UNKNOWN
from payments.providers.base import Approved, BankAccount, CardFacts, Declined
from payments.providers.failures.retry import Retry


@dataclass(frozen=True, slots=True)
class RowUpdate:
    """New values of a row, and the type of the event that shows them, empty where none does.

    `match` is what the row holds as long as nobody else changed it: the guard of the update.
    """

    row: Charge | Refund | Card | Source
    match: Mapping[str, Any]
    values: Mapping[str, Any]
    event: str = ""


# How long a kept card is not charged after its issuer said that it never approves it.
REFUSED_FOR = timedelta(days=30)
# New values of a row, money that moves, or a new row.
Change = RowUpdate | Movement | Insert
Changes = tuple[Change, ...]


def rows_after(charge: Charge, changes: Iterable[Change]) -> dict[UUID, Any]:
    """Return copies of the charge and its refunds, by ID, as they are after `changes`, to be rendered.

    The rows themselves stay as they are.
    """
    values = {change.row.pk: change.values for change in changes if isinstance(change, RowUpdate)}
    created = [change.row for change in changes if isinstance(change, Insert) and isinstance(change.row, Refund)]
    refunds = [copy_with(row, values[row.pk]) if row.pk in values else row for row in created + charge.refund_list]
    source, card = charge.source, getattr(charge.source, "card", None)
    if card is not None and card.pk in values:
        source = copy_with(source, {}, card=copy_with(card, values[card.pk]))
    elif source.pk in values:
        source = copy_with(source, values[source.pk])
    after = copy_with(charge, {**values.get(charge.pk, {}), "refund_list": refunds}, source=source)
    return {row.pk: row for row in (*refunds, source, after)}


def writes_of(caller: Caller, attempt: Attempt, changes: Changes, after: Mapping[UUID, Any]) -> Iterator[Write]:
    """Yield the writes of the changes that `attempt` makes, each with its event, which shows the row `after` them all.

    A payment that is captured, and a refund that is made, may have a receipt.
    """
    for change in changes:
        match change:
            case RowUpdate():
                yield Update(type(change.row), change.match, change.values)
                if change.event:
                    yield from events.of(caller, change.event, after[change.row.pk])
                    yield from receipt_of(caller, change.event, after[change.row.pk])
                if isinstance(change.row, Charge) and change.event:
                    yield from checkout_progress.progress(caller, change.row, after[change.row.pk])
            case Movement():
                yield movements.posted(change, attempt)
            case Insert(row=Refund() as refund):
                yield change
                yield from events.of(caller, REFUND_CREATED, refund)
            case Insert():
                yield change


def apply(charge: Charge, changes: Changes) -> None:
    """Give the rows in memory what is committed: their new values, and the charge its new refund."""
    for change in changes:
        match change:
            case RowUpdate():
                vars(change.row).update(change.values)
            case Insert(row=Refund() as refund):
                charge.refund_list.insert(0, refund)


def card_approved(charge: Charge, outcome: Approved, now: datetime) -> Changes:
    """Return the update of an approved payment's card, which is checked by the first one with its owner.

    Its number stays where it is kept for a customer, and so does the network's reference: that of the payment which
    checked it, and until then of the first one without its owner.
    """
    card: Card | None = getattr(charge.source, "card", None)
    is_kept = charge.customer_id is not None
    is_check = card is not None and card.checked_at is None and charge.initiator == Charge.Initiator.CUSTOMER
    first: dict[str, Any] = {"checked_at": now} if is_check else {}
    is_named = is_check or (card is not None and not card.network_reference)
    if is_kept and is_named and named_by_network(outcome):
        first |= {"network_reference": outcome.network_reference}
    if card and is_kept and charge.single_use:
        first |= {"expiring_at": expiring_at(card)}
    facts = _facts_of(card, outcome.card)
    return _card_data_destroyed(charge, outcome.cvc_checked, is_kept or not charge.single_use, **first, **facts)


def _facts_of(card: Card | None, facts: CardFacts | None) -> dict[str, str]:
    """Return what a provider says of a card and the BIN table did not know."""
    if card is None or facts is None:
        return {}
    return {name: value for name, value in asdict(facts).items() if value and getattr(card, name) == UNKNOWN}


def account_named(charge: Charge, account: BankAccount | None, now: datetime) -> Changes:
    """Return the change of the source of an approved debit, whose account its provider has named."""
    source = charge.source
    if account is None or source.bank_account:
        return ()
    match = {"id": source.id, "merchant_id": source.merchant_id, "version": source.version}
    values = {"bank_account": asdict(account), "version": source.version + 1, "updated_at": now}
    return (RowUpdate(source, match, values, SOURCE_UPDATED),)


def named_by_network(approved: Approved) -> bool:
    """Return whether an outcome has a card network's reference, and a whole one."""
    return 0 < len(approved.network_reference) <= NETWORK_REFERENCE_MAX_LENGTH


def card_failed(charge: Charge, declined: Declined, retry: str, now: datetime) -> Changes:
    """Return the update of a failed payment's card."""
    facts = _facts_of(getattr(charge.source, "card", None), declined.card)
    columns = refused(retry, now) | facts
    return _card_data_destroyed(charge, declined.cvc_checked, not charge.single_use, **columns)


def refused(retry: str, now: datetime) -> dict[str, Any]:
    """Return the columns of a declined card: kept ones of its number are not charged for a while after `never`."""
    return {"refused_until": now + REFUSED_FOR} if retry == Retry.NEVER else {}


def _card_data_destroyed(charge: Charge, cvc_checked: str, is_kept: bool, **others: Any) -> Changes:
    """Return the update that destroys the CVC, and the number unless it is kept, and sets other columns."""
    card: Card | None = getattr(charge.source, "card", None)
    if card is None:
        return ()
    values = {"sealed_cvc": None, "cvc_expires_at": None, "cvc_checked": cvc_checked, **others}
    if not is_kept:
        values |= {"sealed_number": None, "number_expires_at": None}
    return (RowUpdate(card, {"id": card.id, "merchant_id": card.merchant_id}, values),)
