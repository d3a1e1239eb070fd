"""The journal of each movement of money: the accounts that it debits and credits.

A movement is a value: its lines with their amounts, in the smallest unit of the currency of its charge or payout. A
positive amount is a debit, a negative one a credit. `posted` and `posted_for` make the rows of a movement.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from payments import clock
from payments.db.writes import BulkInsert
from payments.ids import new_id
from payments.models import Attempt, Charge, Payout, Posting, Settlement

Account, Kind = Posting.Account, Posting.Kind
# The balance of each account of unsettled money.
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
    """Return the movement for a provider that holds the charge's amount."""
    return Movement(_move(Kind.HOLD, amount, Account.PROVIDER_HOLD, Account.MERCHANT_HOLD))


def released(amount: int) -> Movement:
    """Return the movement for a hold that was released without a capture."""
    return Movement(_release(amount))


def captured(amount: int, fee: int, *, hold: int = 0) -> Movement:
    """Return the movement for a captured `amount`, the merchant's `fee` for it, and the end of its `hold`."""
    taken = _move(Kind.CAPTURE, amount, Account.PROVIDER_RECEIVABLE, Account.MERCHANT_PENDING)
    return Movement(taken + _move(Kind.FEE, fee, Account.MERCHANT_PENDING, Account.FEES) + _release(hold))


def voided(amount: int, fee: int) -> Movement:
    """Return the movement for a void: captured, unsettled money goes back to the payer, and the fee to the merchant."""
    back = _move(Kind.VOID, amount, Account.MERCHANT_PENDING, Account.PROVIDER_RECEIVABLE)
    return Movement(back + _move(Kind.VOID, fee, Account.FEES, Account.MERCHANT_PENDING))


def refund_asked(amount: int, *, is_settled: bool) -> Movement:
    """Return the movement for a requested refund: the merchant's money is on its way back to the payer."""
    return Movement(_move(Kind.REFUND, amount, _owed_to_merchant(is_settled), Account.REFUNDS_IN_TRANSIT))


def refund_settled(amount: int) -> Movement:
    """Return the movement for a refund that the payer has, out of the money that the provider owes us."""
    return Movement(_move(Kind.REFUND_SETTLED, amount, Account.REFUNDS_IN_TRANSIT, Account.PROVIDER_RECEIVABLE))


def refund_failed(amount: int, *, was_made: bool, is_settled: bool) -> Movement:
    """Return the movement for a failed refund: the merchant has the money again.

    `was_made` says that the provider had reported the refund as made before.
    """
    origin = Account.PROVIDER_RECEIVABLE if was_made else Account.REFUNDS_IN_TRANSIT
    return Movement(_move(Kind.REFUND_FAILED, amount, origin, _owed_to_merchant(is_settled)))


def refund_succeeded_late(amount: int, *, is_settled: bool) -> Movement:
    """Return the movement for a refund that succeeded after it had been recorded as failed."""
    return Movement(refund_asked(amount, is_settled=is_settled).lines + refund_settled(amount).lines)


def dispute_withdrawn(amount: int, fee: int, *, is_settled: bool) -> Movement:
    """Return the movement for money that the payer's bank took back, and for the merchant's `fee` for that."""
    owed = _owed_to_merchant(is_settled)
    taken = _move(Kind.DISPUTE, amount, owed, Account.PROVIDER_RECEIVABLE)
    return Movement(taken + _move(Kind.DISPUTE_FEE, fee, owed, Account.FEES))


def dispute_won(amount: int, fee: int, *, is_settled: bool) -> Movement:
    """Return the movement for such money that came back, and the fee with it."""
    owed = _owed_to_merchant(is_settled)
    back = _move(Kind.DISPUTE_WON, amount, Account.PROVIDER_RECEIVABLE, owed)
    return Movement(back + _move(Kind.DISPUTE_FEE, fee, Account.FEES, owed))


def came_late(amount: int) -> Movement:
    """Return the movement for money that a provider took for a failed charge: the payer's, not the merchant's."""
    return Movement(_move(Kind.LATE, amount, Account.PROVIDER_RECEIVABLE, Account.REVERSALS))


def reversed_late(amount: int) -> Movement:
    """Return the movement for late money that went back to the payer."""
    return Movement(_move(Kind.REVERSAL, amount, Account.REVERSALS, Account.PROVIDER_RECEIVABLE))


def payout_made(amount: int, reserve: int) -> Movement:
    """Return the movement for a payout of `amount`, and for the `reserve` that is kept of the same balance."""
    taken = _move(Kind.PAYOUT, amount, Account.MERCHANT_PAYABLE, Account.PAYOUTS_IN_TRANSIT)
    return Movement(taken + _move(Kind.RESERVE, reserve, Account.MERCHANT_PAYABLE, Account.MERCHANT_RESERVE))


def payout_paid(amount: int) -> Movement:
    """Return the movement for a payout that left our bank."""
    return Movement(_move(Kind.PAYOUT_PAID, amount, Account.PAYOUTS_IN_TRANSIT, Account.BANK))


def payout_failed(amount: int, reserve: int, *, was_paid: bool) -> Movement:
    """Return the movement for a payout that did not reach the merchant, or was returned.

    The merchant has it again, and what was still kept in `reserve` of it.
    """
    origin = Account.BANK if was_paid else Account.PAYOUTS_IN_TRANSIT
    back = _move(Kind.PAYOUT_FAILED, amount, origin, Account.MERCHANT_PAYABLE)
    return Movement(back + reserve_released(reserve).lines)


def payout_paid_late(amount: int) -> Movement:
    """Return the movement for a payout that left our bank though the merchant had got its money back."""
    return Movement(_move(Kind.PAYOUT_LATE, amount, Account.MERCHANT_PAYABLE, Account.BANK))


def reserve_released(reserve: int) -> Movement:
    """Return the movement for a reserve whose time is over."""
    return Movement(_move(Kind.RESERVE_RELEASE, reserve, Account.MERCHANT_RESERVE, Account.MERCHANT_PAYABLE))


def posted(movement: Movement, attempt: Attempt) -> BulkInsert:
    """Return the write that posts a movement of the attempt's charge."""
    charge = attempt.charge
    return BulkInsert(_journal(charge, movement.lines, clock.now(), charge_id=charge.id, attempt_id=attempt.id))


def posted_for(payout: Payout, movement: Movement) -> BulkInsert:
    """Return the write that posts a movement of the payout."""
    return BulkInsert(_journal(payout, movement.lines, clock.now(), payout_id=payout.id))


def settled(charge: Charge, settlement: Settlement, unsettled: Unsettled, moment: datetime) -> list[Posting]:
    """Return the postings that move the balances of `unsettled` accounts to those of settled money."""
    lines = [
        line
        for account, amount in sorted(unsettled.items())
        for line in _move(Kind.SETTLE, amount, SETTLES_TO[account], account)
    ]
    return _journal(charge, lines, moment, charge_id=charge.id, settlement=settlement)


def _release(amount: int) -> tuple[Line, ...]:
    return _move(Kind.RELEASE, amount, Account.MERCHANT_HOLD, Account.PROVIDER_HOLD)


def _owed_to_merchant(is_settled: bool) -> str:
    return Account.MERCHANT_PAYABLE if is_settled else Account.MERCHANT_PENDING


def _move(kind: str, amount: int, debit: str, credit: str) -> tuple[Line, ...]:
    return (Line(kind, debit, amount), Line(kind, credit, -amount)) if amount else ()


def _journal(row: Charge | Payout, lines: Iterable[Line], moment: datetime, **reason: Any) -> list[Posting]:
    """Return the rows of one journal; `reason` names what moves the money: a payout, or a charge's attempt."""
    journal = new_id()
    return [
        Posting(
            journal=journal,
            line=number,
            merchant_id=row.merchant_id,
            livemode=row.livemode,
            currency=row.currency,
            account=line.account,
            kind=line.kind,
            amount=line.amount,
            created_at=moment,
            **reason,
        )
        for number, line in enumerate(lines, 1)
    ]
