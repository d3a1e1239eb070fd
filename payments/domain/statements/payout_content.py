"""What a payout is made of, in a few lines that add up to what is paid."""

from collections import Counter
from collections.abc import Iterator

from django.db.models import Count, QuerySet, Sum

from payments.domain.statements.statement import WORDS
from payments.domain.statements.summary import LINES, Line
from payments.ledger.totals import Totals, totals_of
from payments.models import Payout, PayoutPart, Posting, Settlement

Kind = Posting.Kind
# The line of each kind of movement.
LINE_OF = {kind: words for words, kinds in LINES.items() for kind in kinds}
CHARGES, REFUNDS, FEES = LINE_OF[Kind.CAPTURE], LINE_OF[Kind.REFUND], LINE_OF[Kind.FEE]
KEPT = "Kept in reserve"
PAID = "To the bank account"


def content_of(payout: Payout) -> list[Line]:
    """Return the lines of what the payout took from the balance, what was kept of it, and what is paid."""
    parts = PayoutPart.objects.of(payout.merchant_id, payout.livemode).filter(payout=payout)
    settlements = list(Settlement.objects.filter(id__in=parts.filter(is_settlement=True).values("id")))
    settled = sum(totals_of(settlements).values(), Totals()) if settlements else Totals()
    amounts = Counter({CHARGES: settled.gross, REFUNDS: -settled.refunds, FEES: -settled.fees})
    numbers = Counter({CHARGES: settled.charges})
    for kind, amount, number in _posted(parts.filter(is_settlement=False)):
        words = LINE_OF.get(kind, WORDS.get(kind, kind))
        amounts[words] += amount
        numbers[words] += number
    amounts[KEPT] -= payout.reserve
    lines = [Line(words, numbers[words] or None, amount) for words, amount in amounts.items() if amount]
    return [*lines, Line(PAID, None, payout.amount, is_balance=True)]


def _posted(parts: QuerySet[PayoutPart]) -> Iterator[tuple[str, int, int]]:
    """Yield kind, sum and number of the postings that were taken by themselves, outside of settlements."""
    found = Posting.objects.filter(id__in=parts.values("id"))
    for row in found.values("kind").order_by("kind").annotate(total=Sum("amount"), number=Count("id")):
        yield row["kind"], -row["total"], row["number"]
