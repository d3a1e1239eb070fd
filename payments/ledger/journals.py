"""The journal of each movement: which accounts it debits and credits.

A movement is a value: its lines with their amounts, in the smallest unit of the charge's currency. A line's amount is
a debit where positive and a credit where negative. `posted` makes the rows of a movement.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from payments import clock
from payments.db.writes import InsertAll
from payments.ids import new_id
from payments.models import Attempt, Charge, Posting, Settlement

Account, Kind = Posting.Account, Posting.Kind
# What stands on each account of money that is not settled.
Unsettled = Mapping[str, int]
SETTLES_TO: Mapping[str, str] = {
    Account.PROVIDER_RECEIVABLE: Account.BANK,
    Account.MERCHANT_PENDING: Account.MERCHANT_PAYABLE,
}


class Line(NamedTuple):
    """One side of a movement."""

    kind: str
    account: str
    amount: int


@dataclass(frozen=True, slots=True)
class Movement:
    """Lines that are posted as one journal; their amounts sum to zero."""

    lines: tuple[Line, ...]


def held(amount: int) -> Movement:
    """A provider holds the charge's amount."""
    return _movement(_move(Kind.HOLD, amount, Account.PROVIDER_HOLD, Account.MERCHANT_HOLD))


def released(amount: int) -> Movement:
    """A hold was given up, and nothing of it taken."""
    return _movement(_release(amount))


def captured(amount: int, fee: int, *, hold: int = 0) -> Movement:
    """`amount` was taken and the merchant owes its `fee`; the `hold` that it was taken from is not held any more."""
    taken = _move(Kind.CAPTURE, amount, Account.PROVIDER_RECEIVABLE, Account.MERCHANT_PENDING)
    return _movement(taken, _move(Kind.FEE, fee, Account.MERCHANT_PENDING, Account.FEES), _release(hold))


def voided(amount: int, fee: int) -> Movement:
    """What was captured and not settled went back, and so does the fee."""
    back = _move(Kind.VOID, amount, Account.MERCHANT_PENDING, Account.PROVIDER_RECEIVABLE)
    return _movement(back, _move(Kind.VOID, fee, Account.FEES, Account.MERCHANT_PENDING))


def refund_asked(amount: int, *, is_settled: bool) -> Movement:
    """The merchant's money is on its way back to the payer."""
    return _movement(_move(Kind.REFUND, amount, _owed_to_merchant(is_settled), Account.REFUNDS_IN_TRANSIT))


def refund_settled(amount: int) -> Movement:
    """The payer has it, out of what the provider owes us."""
    return _movement(_move(Kind.REFUND_SETTLED, amount, Account.REFUNDS_IN_TRANSIT, Account.PROVIDER_RECEIVABLE))


def refund_failed(amount: int, *, was_made: bool, is_settled: bool) -> Movement:
    """The merchant has it again; `was_made` where the provider had said before that the payer had it."""
    origin = Account.PROVIDER_RECEIVABLE if was_made else Account.REFUNDS_IN_TRANSIT
    return _movement(_move(Kind.REFUND_FAILED, amount, origin, _owed_to_merchant(is_settled)))


def refund_succeeded_late(amount: int, *, is_settled: bool) -> Movement:
    """The payer has it although the refund had failed and the merchant had it again."""
    return Movement(refund_asked(amount, is_settled=is_settled).lines + refund_settled(amount).lines)


def came_late(amount: int) -> Movement:
    """A provider took money for a charge that had failed: the payer's, not the merchant's."""
    return _movement(_move(Kind.LATE, amount, Account.PROVIDER_RECEIVABLE, Account.REVERSALS))


def reversed_late(amount: int) -> Movement:
    """Such money went back to the payer."""
    return _movement(_move(Kind.REVERSAL, amount, Account.REVERSALS, Account.PROVIDER_RECEIVABLE))


def posted(movement: Movement, attempt: Attempt) -> InsertAll:
    """Return the write that posts a movement by which the attempt moved its charge's money."""
    return InsertAll(_journal(attempt.charge, movement.lines, clock.now(), attempt_id=attempt.id))


def settled(charge: Charge, settlement: Settlement, unsettled: Unsettled, moment: datetime) -> list[Posting]:
    """All that stands on `unsettled` accounts moves to those of money that is settled."""
    moves = (_move(Kind.SETTLE, amount, SETTLES_TO[account], account) for account, amount in sorted(unsettled.items()))
    return _journal(charge, _movement(*moves).lines, moment, settlement=settlement)


def _release(amount: int) -> tuple[Line, ...]:
    return _move(Kind.RELEASE, amount, Account.MERCHANT_HOLD, Account.PROVIDER_HOLD)


def _owed_to_merchant(is_settled: bool) -> str:
    return Account.MERCHANT_PAYABLE if is_settled else Account.MERCHANT_PENDING


def _move(kind: str, amount: int, debit: str, credit: str) -> tuple[Line, ...]:
    return (Line(kind, debit, amount), Line(kind, credit, -amount)) if amount else ()


def _movement(*moves: tuple[Line, ...]) -> Movement:
    return Movement(tuple(line for lines in moves for line in lines))


def _journal(charge: Charge, lines: Iterable[Line], moment: datetime, **reason: Any) -> list[Posting]:
    """The rows of one journal; `reason` names the attempt or the settlement that moves the money."""
    journal = new_id()
    return [
        Posting(
            journal=journal,
            line=number,
            merchant_id=charge.merchant_id,
            livemode=charge.livemode,
            currency=charge.currency,
            account=line.account,
            kind=line.kind,
            amount=line.amount,
            charge_id=charge.id,
            created_at=moment,
            **reason,
        )
        for number, line in enumerate(lines, 1)
    ]
