"""How a dispute stands, from the stages that were reported of it.

Providers report stages late, repeated and in any order. So the status follows from the furthest stage, and where the
money is from the furthest stage that moved it: a stage that comes after a further one changes nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from payments.models import Dispute
from payments.providers.disputes import Stage

Status = Dispute.Status
STATUSES: dict[Stage, Status] = {
    Stage.INQUIRY: Status.WARNING,
    Stage.INQUIRY_ANSWERED: Status.UNDER_REVIEW,
    Stage.INQUIRY_EXPIRED: Status.EXPIRED,
    Stage.INQUIRY_CLOSED: Status.WON,
    Stage.NOTICE: Status.WARNING,
    Stage.CHARGEBACK: Status.NEEDS_RESPONSE,
    Stage.EXPIRED: Status.EXPIRED,
    Stage.ACCEPTED: Status.ACCEPTED,
    Stage.EVIDENCE: Status.UNDER_REVIEW,
    Stage.ASKED_AGAIN: Status.NEEDS_RESPONSE,
    Stage.ACCEPTED_LATER: Status.ACCEPTED,
    Stage.EVIDENCE_AGAIN: Status.UNDER_REVIEW,
    Stage.REVERSED: Status.WON,
    Stage.PREARBITRATION: Status.NEEDS_RESPONSE,
    Stage.PREARBITRATION_ANSWERED: Status.UNDER_REVIEW,
    Stage.PREARBITRATION_ACCEPTED: Status.ACCEPTED,
    Stage.SECOND_CHARGEBACK: Status.LOST,
    Stage.WON_FINALLY: Status.WON,
    Stage.LOST_FINALLY: Status.LOST,
    Stage.ARBITRATION: Status.UNDER_REVIEW,
    Stage.ARBITRATION_WON: Status.WON,
    Stage.ARBITRATION_LOST: Status.LOST,
}
ASKS_FOR_EVIDENCE = (Status.WARNING, Status.NEEDS_RESPONSE)
# Stages by which the payer's bank takes the money, or says that it has it, and by which it comes back; the others move
# none.
TAKES = frozenset(
    {Stage.CHARGEBACK, Stage.ASKED_AGAIN, Stage.SECOND_CHARGEBACK, Stage.LOST_FINALLY, Stage.ARBITRATION_LOST}
)
RETURNS = frozenset({Stage.REVERSED, Stage.WON_FINALLY, Stage.ARBITRATION_WON})
UNTOUCHED = 0


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a dispute stands: its furthest stage, and the furthest one that moved money, UNTOUCHED for none."""

    stage: Stage
    money_stage: int = UNTOUCHED

    @property
    def status(self) -> Status:
        return STATUSES[self.stage]

    @property
    def withdrawn(self) -> bool:
        """Whether the payer's bank took the money last; a part of it may be there when it returned some."""
        return self.money_stage in TAKES

    @property
    def is_open(self) -> bool:
        return self.status in Dispute.OPEN

    def after(self, stage: Stage) -> "Standing":
        """Return the standing after another report."""
        moved = stage if stage in TAKES | RETURNS else UNTOUCHED
        return Standing(max(self.stage, stage), max(self.money_stage, moved))


def held_after(amounts: Mapping[int, int]) -> int:
    """Return what the payer's bank has, by the amount of each stage that was reported to move money.

    Stages that take, or return, one after the other speak of the same money: by the largest of them. What is taken
    again is at most what was ever taken at once, in all, so that a return that nobody reported counts too.
    """
    held = most = 0
    for takes, stages in groupby(sorted(amounts), key=TAKES.__contains__):
        amount = max(amounts[stage] for stage in stages)
        most = max(most, amount) if takes else most
        held = min(held + amount, most) if takes else max(0, held - amount)
    return held


def standing_of(stages: Iterable[Stage]) -> Standing:
    """Return the standing after all these reports, of which there is at least one."""
    first, *others = stages
    standing = Standing(first).after(first)
    for stage in others:
        standing = standing.after(stage)
    return standing
