"""The first part of a statement in one currency: what moved in a few lines, which add up to the balance at its end."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from payments.domain.statements.statement import Chapter
from payments.ledger.transactions import moved_of
from payments.models import Payout, Posting

Kind = Posting.Kind
# The kinds of movements of each line, in order; those of a settlement move nothing of the balance.
LINES: Mapping[str, tuple[str, ...]] = {
    "Charges": (Kind.CAPTURE,),
    "Voided charges, with their fees": (Kind.VOID,),
    "Refunds": (Kind.REFUND,),
    "Refunds that failed, added back": (Kind.REFUND_FAILED,),
    "Disputes": (Kind.DISPUTE,),
    "Disputes won, given back": (Kind.DISPUTE_WON,),
    "Fees": (Kind.FEE, Kind.DISPUTE_FEE),
    "Payouts": (Kind.PAYOUT, Kind.PAYOUT_LATE),
    "Payouts that failed, added back": (Kind.PAYOUT_FAILED,),
    "Reserve of payouts, kept and released": (Kind.RESERVE, Kind.RESERVE_RELEASE),
}
# The first kinds of the lines that each statement has, and of those without a number: a void has two postings.
ALWAYS = (Kind.CAPTURE, Kind.REFUND, Kind.FEE, Kind.PAYOUT, Kind.RESERVE)
NOT_COUNTED = (Kind.VOID, Kind.FEE, Kind.RESERVE)
# Of a payout: what was not taken from the balance, and what is paid.
KEPT, PAID = "Kept in reserve", "To the bank account"


class Line(NamedTuple):
    """A balance, or what movements of one sort changed of it in a month, with their number where it says something."""

    words: str
    number: int | None
    amount: int
    is_balance: bool = False


def summary_of(section: Chapter) -> list[Line]:
    """Return opening balance, what moved, closing balance, and what this is made of and what is kept apart from it."""
    opening, closing = section.opening, section.closing
    apart = [("Apart from it, kept in reserve of payouts", closing.reserve)] if closing.reserve else []
    if closing.pending and closing.available:
        apart = [("Of it, pending until settlement", closing.pending), ("Of it, available", closing.available), *apart]
    amounts = Counter[str]()
    for row in section.rows:
        amounts[row.kind] += row.change.total
    return [
        Line("Opening balance", None, opening.total, is_balance=True),
        *lines_of(amounts, section.counts, ALWAYS),
        Line("Closing balance", None, closing.total, is_balance=True),
        *(Line(words, None, amount) for words, amount in apart),
    ]


def lines_of(amounts: Mapping[str, int], counts: Mapping[str, int], always: Collection[str] = ()) -> Iterator[Line]:
    """Yield the lines of what moved, by the amounts and numbers of each kind; those of `always` even if of nothing."""
    for words, kinds in LINES.items():
        count = sum(counts.get(kind, 0) for kind in kinds)
        if count or kinds[0] in always:
            amount = sum(amounts.get(kind, 0) for kind in kinds)
            yield Line(words, None if kinds[0] in NOT_COUNTED else count, amount)


def content_of(payout: Payout) -> list[Line]:
    """Return the lines of what the payout took from the balance, what was kept of it, and what is paid."""
    moved = moved_of(payout)
    taken = lines_of({kind: of.amount for kind, of in moved.items()}, {kind: of.postings for kind, of in moved.items()})
    kept = [Line(KEPT, None, -payout.reserve)] if payout.reserve else []
    return [*taken, *kept, Line(PAID, None, payout.amount, is_balance=True)]
