"""The money of a dispute: what the payer's bank has by the reports, and how much of that is in the books."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from payments.domain.disputes.stages import RETURNS, TAKES, UNTOUCHED, held_after
from payments.ledger import movements
from payments.ledger.movements import Movement
from payments.models import Charge, Dispute
from payments.money import shown_amount
from payments.providers.disputes import Disputed, Stage


@dataclass(frozen=True, slots=True)
class Money:
    """What each stage moved, by the reports in the charge's currency; what the bank has by them; and what is posted.

    All disputes of a charge together post no more than was captured, of which `room` is left for this one.
    """

    amounts: Mapping[int, int]
    held: int
    room: int

    @property
    def posted(self) -> int:
        return min(self.held, self.room)


def money_after(charge: Charge, known: Dispute | None, reported: Disputed) -> Money:
    """Return the money of a dispute after a report. Of two reports of one stage the first counts."""
    amounts = {int(stage): amount for stage, amount in known.stage_amounts.items()} if known else {}
    if reported.stage in TAKES | RETURNS and reported.currency == charge.currency:
        amounts.setdefault(int(reported.stage), reported.amount)
    others = charge.amount_disputed - (known.amount_withdrawn if known else 0)
    return Money(amounts, held_after(amounts), charge.amount_captured - others)


def is_first_of(known: Dispute, reported: Disputed, money: Money) -> bool:
    """Whether a report counts as the first that moved money of a dispute whose money had moved before."""
    is_counted = len(money.amounts) > len(known.stage_amounts)
    return is_counted and reported.stage == min(money.amounts) and (not known.stage_amounts or reported.stage in TAKES)


def moved(charge: Charge, known: Dispute | None, dispute: Dispute, money: Money) -> Iterator[Movement]:
    """Yield the movements from a `known` dispute to what it is now: where a return is reported first, both ways."""
    is_settled = charge.settled_at is not None
    was_posted, was_withdrawn = (known.amount_withdrawn, known.withdrawn) if known else (0, False)
    change, fee = money.posted - was_posted, dispute.fee * (dispute.withdrawn - was_withdrawn)
    is_first = known is None or known.money_stage == UNTOUCHED
    if is_first and dispute.money_stage in RETURNS and money.amounts:
        passed = min(dispute.amount, money.room)
        yield movements.dispute_withdrawn(passed, dispute.fee, is_settled=is_settled)
        yield movements.dispute_won(passed, dispute.fee, is_settled=is_settled)
    elif change > 0 or fee > 0:
        yield movements.dispute_withdrawn(change, fee, is_settled=is_settled)
    elif change or fee:
        yield movements.dispute_won(-change, -fee, is_settled=is_settled)


def moved_up(charge: Charge, known: Dispute | None, money: Money) -> Iterator[tuple[Dispute, int]]:
    """Yield the other disputes of a charge of which more can be posted now, and how much: some of `known` came back."""
    freed = known.amount_withdrawn - money.posted if known else 0
    others = Dispute.objects.filter(charge=charge).exclude(id=known.id).order_by("id") if known and freed > 0 else ()
    for other in others:
        held = held_after({int(stage): amount for stage, amount in other.stage_amounts.items()})
        more = min(freed, held - other.amount_withdrawn)
        if more > 0:
            freed -= more
            yield other, more


def unexpected(charge: Charge, dispute: Dispute, reported: Disputed, money: Money) -> str:
    """Return how the money of a report differs from the dispute's, or from the books; empty where it does not."""

    def shown(amount: int) -> str:
        return shown_amount(amount, charge.currency)

    if reported.stage not in TAKES | RETURNS:
        return ""
    if reported.currency != charge.currency:
        return f"The report is in {reported.currency}, and the charge in {charge.currency}: nothing of it was posted."
    found = []
    if reported.amount != dispute.amount:
        said = shown_amount(dispute.amount, dispute.currency)
        found.append(f"This report is about {shown(reported.amount)}, and the dispute about {said}.")
    if money.held > money.posted:
        why = "no more was captured, or other disputes have the rest"
        found.append(f"The payer's bank has {shown(money.held)}, of which {shown(money.posted)} is posted: {why}.")
    return " ".join(found)


def contradicts(known: Dispute | None, reported: Disputed, money: Money) -> str:
    """Return how a report that changes nothing differs from what counts; empty where it does not."""
    if known and known.stage == Stage.SECOND_CHARGEBACK and reported.stage == Stage.PREARBITRATION:
        return "The payer's bank asks before arbitration about what it has taken again. Answer it there."
    counts = money.amounts.get(int(reported.stage), reported.amount)
    if counts == reported.amount:
        return ""
    amounts = [shown_amount(amount, reported.currency) for amount in (reported.amount, counts)]
    return "This stage is reported again, about {} and not {}, which stands.".format(*amounts)
