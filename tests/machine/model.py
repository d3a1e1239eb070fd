"""A merchant's sources and charges as the contract (sections 3, 6 and 7) says they are.

Plain values that know nothing of the application. A verb returns the code of its refusal, empty where it is done.
"""

from dataclasses import dataclass, field
from typing import Any

from tests.machine.behaviours import APPROVED, PIN_TRIES, REDIRECT, RIGHT_PIN, Behaviour
from tests.machine.dispute_model import Dispute

# The fate of a request to the provider: it never arrives, or its answer is lost.
UNSENT, LOST = "unsent", "lost"


class Named:
    """Shown short in the steps of a history."""

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))


@dataclass(eq=False)
class Source(Named):
    """A source; `name` is its ID."""

    name: str
    behaviour: Behaviour
    used: bool = False
    vaulted: bool = False
    is_refused: bool = False

    def __repr__(self) -> str:
        return f"{self.behaviour} {self.name[-4:]}"


@dataclass(eq=False)
class Refund:
    """A refund; `ends_as` is what the provider makes of it later, and `is_over` says that it has."""

    amount: int
    arrived: bool
    ends_as: str
    status: str = "pending"
    is_over: bool = False

    def end(self) -> None:
        """We learn what the provider made of it."""
        self.status, self.ends_as, self.is_over = self.ends_as, "", False


@dataclass(eq=False)
class Operation:
    """A capture, void or refund of which we have no answer yet."""

    verb: str
    amount: int
    arrived: bool
    refund: Refund | None = None


# After these a kept card is not charged again for a while.
FINAL = ("lost_card", "stolen_card")


@dataclass(eq=False)
class Charge(Named):
    """A charge; `decision` is what its provider knows and we may not: `approved` or the code of a failure."""

    source: Source
    amount: int
    capture_at_once: bool
    name: str = ""
    stage: str = "pending"
    captured: bool = False
    amount_captured: int = 0
    refunds: list[Refund] = field(default_factory=list)
    failure: str = ""
    action: str = ""
    page: str = ""
    decision: str = ""
    is_unknown: bool = False
    wrong_pins: int = 0
    under_way: Operation | None = None
    is_hold_over: bool = False
    is_settled: bool = False
    dispute: Dispute | None = None

    def __repr__(self) -> str:
        return f"{self.stage} {self.name[-4:]}"

    @property
    def amount_refunded(self) -> int:
        return sum(refund.amount for refund in self.refunds if refund.status != "failed")

    @property
    def left(self) -> int:
        return self.amount_captured - self.amount_refunded

    @property
    def amount_disputed(self) -> int:
        """What the payer's bank has."""
        return self.dispute.amount_withdrawn if self.dispute else 0

    @property
    def status(self) -> str:
        if self.stage == "captured":
            return "succeeded" if self.left else "refunded"
        return "succeeded" if self.stage == "held" else self.stage

    @property
    def is_open(self) -> bool:
        """Whether something of it has no outcome yet that we know of."""
        return self.stage == "pending" or bool(self.under_way) or any(each.status == "pending" for each in self.refunds)

    @property
    def has_reports(self) -> bool:
        """Whether the provider has a report of it."""
        is_decided = self.stage == "pending" and bool(self.decision) and not self.is_unknown
        return is_decided or any(refund.is_over for refund in self.refunds)

    @property
    def has_refunds_to_end(self) -> bool:
        return any(refund.ends_as and not refund.is_over for refund in self.refunds)

    @property
    def awaits_payer(self) -> bool:
        return bool(self.action) and not self.decision

    def ask(self, require_auth: bool, by_payer: bool) -> None:
        """Ask the provider for the money."""
        behaviour = self.source.behaviour
        is_spared = (self.source.vaulted and not by_payer) or (behaviour.type == "card" and not require_auth)
        if behaviour.asks and not is_spared:
            self.action = behaviour.asks
            return
        self.decision, self.is_unknown = behaviour.answers, behaviour.is_lost
        if not self.is_unknown:
            self.receive_reports()

    def receive_reports(self) -> None:
        """Record what the provider decided."""
        if self.stage != "pending" or not self.decision:
            return
        self.action, self.is_unknown = "", False
        if self.decision != APPROVED:
            self.stage, self.failure = "failed", self.decision
            self.source.is_refused = self.source.vaulted and self.decision in FINAL
        elif self.capture_at_once:
            self._take(self.amount)
        else:
            self.stage = "held"

    def decide(self, decision: str) -> None:
        """Decide at the provider as the payer, or as time; only the first decision counts."""
        if self.awaits_payer:
            self.decision = decision

    def enter_pin(self, pin: str) -> None:
        """Give a one-time PIN as the payer, to us or to the provider."""
        if self.awaits_payer and pin == RIGHT_PIN:
            self.decision = APPROVED
        elif self.awaits_payer:
            self.wrong_pins += 1
            if self.wrong_pins == PIN_TRIES:
                self.decision = "authentication_failed"

    def verify(self, pin: str) -> str:
        if self.action in ("", REDIRECT):
            return "charge_not_verifiable"
        self.enter_pin(pin)
        self.receive_reports()
        return ""

    def capture(self, amount: int | None, fate: str) -> str:
        self.find_out()
        if self.stage != "held":
            return "charge_not_capturable"
        if amount is not None and amount > self.amount:
            return "amount_too_large"
        return self._do(Operation("capture", amount or self.amount, fate != UNSENT), fate)

    def void(self, fate: str) -> str:
        self.find_out()
        if self.stage != "held" and (self.stage != "captured" or self.is_settled or self.amount_refunded):
            return "charge_not_voidable"
        if self.dispute:
            return "charge_not_voidable"
        return self._do(Operation("void", 0, fate != UNSENT), fate)

    def refund(self, amount: int | None, fate: str) -> str:
        self.find_out()
        left = self.left - self.amount_disputed
        if self.stage != "captured" or not self.left or left <= 0:
            return "charge_not_refundable"
        if amount is not None and amount > left:
            return "amount_too_large"
        arrives = fate != UNSENT
        refund = Refund(amount or left, arrives, self.source.behaviour.refunds_end if arrives else "")
        self.refunds.insert(0, refund)
        return self._do(Operation("refund", refund.amount, arrives, refund), fate)

    def refuses_dispute(self) -> str:
        """Return why a dispute cannot be recorded, empty where it can."""
        if self.under_way and self.under_way.verb == "void":
            return "not now"
        return "" if self.stage == "captured" else "cannot be true"

    def find_out(self) -> None:
        """Look up the attempt that blocks another operation."""
        if self.is_unknown:
            self.receive_reports()
        if self.under_way:
            self._record(self.under_way)

    def let_refunds_end(self) -> None:
        """Let the provider end its refunds."""
        for refund in self.refunds:
            refund.is_over = bool(refund.ends_as)

    def receive_refund_reports(self) -> None:
        """Let the provider report its refunds."""
        for refund in self.refunds:
            if refund.is_over:
                refund.end()
                if self.under_way and self.under_way.refund is refund:
                    self.under_way = None

    def look_up(self) -> None:
        """Everything without an outcome is looked up."""
        self.receive_reports()
        self.find_out()
        for refund in self.refunds:
            if refund.is_over and refund.status == "pending":
                refund.end()

    def release_overdue(self) -> None:
        """Release an expired hold, unless another operation is under way."""
        if self.stage == "held" and self.is_hold_over and not self.under_way:
            self.stage = "voided"

    def settle(self) -> None:
        """Settle the day's money, without charges that have an operation under way."""
        self.is_settled = self.is_settled or (self.stage == "captured" and not self.under_way)

    def _do(self, operation: Operation, fate: str) -> str:
        self.under_way = operation
        if not fate:
            self._record(operation)
        return ""

    def _record(self, operation: Operation) -> None:
        self.under_way = None
        if operation.refund:
            self._begin(operation.refund)
        elif operation.arrived and operation.verb == "capture":
            self._take(operation.amount)
        elif operation.arrived:
            self.stage = "voided"

    def _begin(self, refund: Refund) -> None:
        if refund.is_over:
            refund.end()
        else:
            refund.status = self.source.behaviour.refunds_begin if refund.arrived else "failed"

    def _take(self, amount: int) -> None:
        self.stage, self.captured, self.amount_captured = "captured", True, amount


def charge(source: Source, amount: int, capture: bool, require_auth: bool, by_payer: bool = False) -> Charge | str:
    """Return a new charge, or the code of its refusal; `by_payer` where a kept source's owner asks for it."""
    if source.used and not source.vaulted:
        return "source_already_used"
    if source.is_refused:
        return "retry_not_allowed"
    if not capture and not source.behaviour.can_be_held:
        return "invalid_choice"
    source.used = True
    new = Charge(source, amount, capture)
    new.ask(require_auth, by_payer)
    return new
