"""Changes as values: the rules return them, one statement writes them, and they reach the rows in memory afterwards."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from payments.db.fast_model import copy_with
from payments.db.writes import Insert, Update, Write
from payments.domain.charging.checkouts import checkout_progress
from payments.domain.payer_messages.receipts import receipt_of
from payments.domain.shared import events
from payments.domain.shared.caller import Caller
from payments.ledger import movements
from payments.ledger.movements import Movement
from payments.models import Attempt, Card, Charge, Refund


@dataclass(frozen=True, slots=True)
class RowUpdate:
    """New values of a row, and the type of the event that shows them, empty where none does.

    `match` is what the row holds as long as nobody else changed it: the guard of the update.
    """

    row: Charge | Refund | Card
    match: Mapping[str, Any]
    values: Mapping[str, Any]
    event: str = ""


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
    after = copy_with(charge, {**values.get(charge.pk, {}), "refund_list": refunds}, source=source)
    return {row.pk: row for row in (*refunds, after)}


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
                    yield from checkout_progress.progress(caller, after[change.row.pk])
            case Movement():
                yield movements.posted(change, attempt)
            case Insert(row=Refund() as refund):
                yield change
                yield from events.of(caller, "refund.created", refund)
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
