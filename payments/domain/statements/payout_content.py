"""What a payout is made of, in a few lines that add up to what is paid."""

from payments.domain.statements.summary import Line, lines_of
from payments.ledger.transactions import moved_of
from payments.models import Payout

KEPT = "Kept in reserve"
PAID = "To the bank account"


def content_of(payout: Payout) -> list[Line]:
    """Return the lines of what the payout took from the balance, what was kept of it, and what is paid."""
    moved = moved_of(payout)
    taken = lines_of({kind: of.amount for kind, of in moved.items()}, {kind: of.postings for kind, of in moved.items()})
    kept = [Line(KEPT, None, -payout.reserve)] if payout.reserve else []
    return [*taken, *kept, Line(PAID, None, payout.amount, is_balance=True)]
