"""A dispute as the guide to the ledger says it is: plain values that know nothing of the application."""

from dataclasses import dataclass, field
from typing import Any

# Of each stage, in the order in which they happen: the status, and what it does with the money.
TAKEN, BACK = "taken", "back"
STAGES: dict[str, tuple[str, str]] = {
    "inquiry": ("warning", ""),
    "inquiry_answered": ("under_review", ""),
    "inquiry_expired": ("expired", ""),
    "inquiry_closed": ("won", ""),
    "notice": ("warning", ""),
    "chargeback": ("needs_response", TAKEN),
    "expired": ("expired", ""),
    "accepted": ("accepted", ""),
    "evidence": ("under_review", ""),
    "asked_again": ("needs_response", TAKEN),
    "accepted_later": ("accepted", ""),
    "evidence_again": ("under_review", ""),
    "reversed": ("won", BACK),
    "prearbitration": ("needs_response", ""),
    "prearbitration_answered": ("under_review", ""),
    "prearbitration_accepted": ("accepted", ""),
    "second_chargeback": ("lost", TAKEN),
    "won_finally": ("won", BACK),
    "lost_finally": ("lost", TAKEN),
    "arbitration": ("under_review", ""),
    "arbitration_won": ("won", BACK),
    "arbitration_lost": ("lost", TAKEN),
}
ORDER = list(STAGES)
# By which the provider shows that it has a response.
PROOFS = {
    "evidence": ("inquiry_answered", "evidence", "evidence_again", "prearbitration_answered"),
    "accept": ("accepted", "accepted_later", "prearbitration_accepted"),
}
ASKS = ("warning", "needs_response")
REFUSED, UNANSWERED = "refused", "unanswered"


@dataclass(eq=False)
class Dispute:
    """A dispute of a charge of `captured`: the furthest stage reported, and what each stage moved that was reported."""

    amount: int
    fee: int
    stage: str
    captured: int
    moved: dict[str, int] = field(default_factory=dict)
    name: str = ""
    evidence: int = 0
    response: str = ""
    response_state: str = ""
    tries: int = 0

    def __repr__(self) -> str:
        return f"{self.stage} {self.name[-4:]}"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))

    @property
    def status(self) -> str:
        return STAGES[self.stage][0]

    @property
    def held(self) -> int:
        """What the bank has: each run of stages that take or return speaks of the same money."""
        held = most = run = 0
        way = ""
        for stage in [*sorted(self.moved, key=ORDER.index), ""]:
            if not stage or STAGES[stage][1] != way:
                most = max(most, run) if way == TAKEN else most
                held = min(held + run, most) if way == TAKEN else max(0, held - run)
                way, run = STAGES[stage][1] if stage else "", 0
            run = max(run, self.moved.get(stage, 0))
        return held

    @property
    def withdrawn(self) -> bool:
        return self.held > 0

    @property
    def amount_withdrawn(self) -> int:
        return min(self.held, self.captured)

    @property
    def takes_response(self) -> bool:
        return self.status in ASKS and self.response_state not in ("pending", "sent")

    def report(self, stage: str, amount: int | None = None) -> None:
        """Record a stage: one that comes after a further one moves its money, and changes nothing else."""
        before, amount = self.status, self.amount if amount is None else amount
        is_behind = ORDER.index(stage) < ORDER.index(self.stage)
        is_earlier = is_behind and self.stage in ("asked_again", "prearbitration")
        if self._is_about(stage, amount):
            self.amount = amount
        self.stage = max(self.stage, stage, key=ORDER.index)
        if STAGES[stage][1]:
            self.moved.setdefault(stage, amount)
        if self.response and stage in PROOFS[self.response] and not is_earlier:
            self.response_state = "sent"
        elif (
            self.status in ("warning", "needs_response") and self.status != before and self.response_state != "pending"
        ):
            self.response = self.response_state = ""

    def _is_about(self, stage: str, amount: int) -> bool:
        """Whether it is about the amount of this report: of the first that moves money, or the newest before that."""
        if not self.moved:
            return bool(STAGES[stage][1]) or ORDER.index(stage) > ORDER.index(self.stage)
        return STAGES[stage][1] == TAKEN and ORDER.index(stage) < min(map(ORDER.index, self.moved))

    def add_evidence(self) -> str:
        if not self.takes_response:
            return "dispute_not_answerable"
        self.evidence += 1
        return ""

    def submit(self) -> str:
        if self.takes_response and not self.evidence:
            return "evidence_missing"
        return self._respond("evidence", is_possible=self.takes_response)

    def accept(self) -> str:
        return self._respond("accept", is_possible=self.takes_response and self.status != "warning")

    def send(self, fate: str) -> None:
        """Send a response that waits, which the provider takes, refuses or does not answer."""
        if self.response_state != "pending":
            return
        self.tries += 1
        if fate == REFUSED:
            # What was sent before may be what is refused now.
            self.response_state = "refused" if self.tries == 1 else "unknown"
        elif fate != UNANSWERED:
            is_inquiry = ORDER.index(self.stage) < ORDER.index("notice")
            is_again = ORDER.index(self.stage) >= ORDER.index("asked_again")
            evidence = "inquiry_answered" if is_inquiry else "evidence_again" if is_again else "evidence"
            accepted = "accepted_later" if is_again else "accepted"
            if ORDER.index(self.stage) >= ORDER.index("prearbitration"):
                evidence, accepted = "prearbitration_answered", "prearbitration_accepted"
            self.report(evidence if self.response == "evidence" else accepted)

    def _respond(self, response: str, *, is_possible: bool) -> str:
        if not is_possible:
            return "dispute_not_answerable"
        self.response, self.response_state, self.tries = response, "pending", 0
        return ""
