"""The journal of each movement: which accounts it debits and credits.

All functions take rows in hand, after the change in memory, and all but `settled` return the write that posts the
journal. Amounts are in the smallest unit of the charge's currency; a line's amount is a debit where positive, a credit
where negative.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import chain
from typing import Any

from payments import clock
from payments.ids import new_id
from payments.models import Attempt, Charge, Posting, Refund, Settlement
from payments.models.together import InsertAll

Account, Kind = Posting.Account, Posting.Kind
Line = tuple[str, str, int]
# What stands on each account of money that is not settled.
Unsettled = Mapping[str, int]
SETTLES_TO: Mapping[str, str] = {
    Account.PROVIDER_RECEIVABLE: Account.BANK,
    Account.MERCHANT_PENDING: Account.MERCHANT_PAYABLE,
}


def held(attempt: Attempt) -> InsertAll:
    """A provider holds the charge's amount."""
    charge = attempt.charge
    return _post(attempt, _move(Kind.HOLD, charge.amount, Account.PROVIDER_HOLD, Account.MERCHANT_HOLD))


def released(attempt: Attempt) -> InsertAll:
    """A hold was given up, and nothing of it taken."""
    return _post(attempt, _release(attempt.charge))


def captured(attempt: Attempt, *, from_hold: bool) -> InsertAll:
    """`amount_captured` was taken and the merchant owes its `fee`; what was held is not held any more."""
    charge = attempt.charge
    taken = _move(Kind.CAPTURE, charge.amount_captured, Account.PROVIDER_RECEIVABLE, Account.MERCHANT_PENDING)
    fee = _move(Kind.FEE, charge.fee, Account.MERCHANT_PENDING, Account.FEES)
    return _post(attempt, taken, fee, _release(charge) if from_hold else iter(()))


def voided(attempt: Attempt) -> InsertAll:
    """What was captured and not settled went back, and so does the fee."""
    charge = attempt.charge
    back = _move(Kind.VOID, charge.amount_captured, Account.MERCHANT_PENDING, Account.PROVIDER_RECEIVABLE)
    return _post(attempt, back, _move(Kind.VOID, charge.fee, Account.FEES, Account.MERCHANT_PENDING))


def refund_asked(attempt: Attempt, refund: Refund) -> InsertAll:
    """The merchant's money is on its way back to the payer."""
    owed = _owed_to_merchant(attempt.charge)
    return _post(attempt, _move(Kind.REFUND, refund.amount, owed, Account.REFUNDS_IN_TRANSIT))


def refund_settled(attempt: Attempt, refund: Refund) -> InsertAll:
    """The payer has it, out of what the provider owes us."""
    moved = _move(Kind.REFUND_SETTLED, refund.amount, Account.REFUNDS_IN_TRANSIT, Account.PROVIDER_RECEIVABLE)
    return _post(attempt, moved)


def refund_failed(attempt: Attempt, refund: Refund, *, was_settled: bool) -> InsertAll:
    """The merchant has it again; `was_settled` where the provider had said before that the payer had it."""
    origin = Account.PROVIDER_RECEIVABLE if was_settled else Account.REFUNDS_IN_TRANSIT
    return _post(attempt, _move(Kind.REFUND_FAILED, refund.amount, origin, _owed_to_merchant(attempt.charge)))


def refund_succeeded_late(attempt: Attempt, refund: Refund) -> InsertAll:
    """The payer has it although the refund had failed and the merchant had it again."""
    owed, transit = _owed_to_merchant(attempt.charge), Account.REFUNDS_IN_TRANSIT
    asked = _move(Kind.REFUND, refund.amount, owed, transit)
    return _post(attempt, asked, _move(Kind.REFUND_SETTLED, refund.amount, transit, Account.PROVIDER_RECEIVABLE))


def came_late(attempt: Attempt) -> InsertAll:
    """A provider took money for a charge that had failed: the payer's, not the merchant's."""
    moved = _move(Kind.LATE, attempt.charge.amount, Account.PROVIDER_RECEIVABLE, Account.REVERSALS)
    return _post(attempt, moved)


def reversed_late(attempt: Attempt) -> InsertAll:
    """Such money went back to the payer."""
    moved = _move(Kind.REVERSAL, attempt.charge.amount, Account.REVERSALS, Account.PROVIDER_RECEIVABLE)
    return _post(attempt, moved)


def settled(charge: Charge, settlement: Settlement, unsettled: Unsettled, moment: datetime) -> list[Posting]:
    """All that stands on `unsettled` accounts moves to those of money that is settled."""
    moves = (_move(Kind.SETTLE, amount, SETTLES_TO[account], account) for account, amount in sorted(unsettled.items()))
    return _journal(charge, moves, moment, settlement=settlement)


def _release(charge: Charge) -> Iterator[Line]:
    return _move(Kind.RELEASE, charge.amount, Account.MERCHANT_HOLD, Account.PROVIDER_HOLD)


def _owed_to_merchant(charge: Charge) -> str:
    return Account.MERCHANT_PAYABLE if charge.settled_at else Account.MERCHANT_PENDING


def _move(kind: str, amount: int, debit: str, credit: str) -> Iterator[Line]:
    if amount:
        yield kind, debit, amount
        yield kind, credit, -amount


def _post(attempt: Attempt, *moves: Iterable[Line]) -> InsertAll:
    return InsertAll(_journal(attempt.charge, moves, clock.now(), attempt_id=attempt.id))


def _journal(charge: Charge, moves: Iterable[Iterable[Line]], moment: datetime, **reason: Any) -> list[Posting]:
    """The lines of one journal; `reason` names the attempt or the settlement that moves the money."""
    journal = new_id()
    return [
        Posting(
            journal=journal,
            line=number,
            merchant_id=charge.merchant_id,
            livemode=charge.livemode,
            currency=charge.currency,
            account=account,
            kind=kind,
            amount=amount,
            charge_id=charge.id,
            created_at=moment,
            **reason,
        )
        for number, (kind, account, amount) in enumerate(chain.from_iterable(moves), 1)
    ]
