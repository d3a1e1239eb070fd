"""A merchant's balance and payouts as the guides say they are: plain values that know nothing of the application."""

from dataclasses import dataclass, field

from tests.machine.model import Charge, Named

FEE_BASIS_POINTS, FEE_FIXED = 350, 15
# By the end of the account's number: what the bank does with a payout, day by day.
PAID, FAILED, RETURNED = "paid", "failed", "returned"
BANK: dict[str, tuple[str, ...]] = {"0002": (FAILED,), "0003": (PAID, RETURNED)}
LOSES_ANSWER, LOSES_REQUEST, SILENT = "0004", "0005", "0006"
# After so many lookups in vain a payout is sent again.
ABSENT_TRIES = 3
REFUSED = "refused"


class Requested(Named):
    """What goes out when another than who asks for it approves."""

    requested_by: str

    def end_request(self, by: str, is_withdrawn: bool) -> str:
        """Reject the request of another, or withdraw one's own: it waits as if nobody had asked."""
        if not self.requested_by or (self.requested_by == by) != is_withdrawn:
            return REFUSED
        self.requested_by = ""
        return ""


@dataclass(eq=False)
class Payout(Requested):
    """A payout; `booked` is what its bank has of it, which we may not know."""

    name: str
    amount: int
    reserve: int
    number: str = ""
    is_by_hand: bool = False
    requested_by: str = ""
    status: str = "pending"
    failure: str = ""
    is_reserved: bool = False
    is_asked: bool = False
    lookups: int = 0
    booked: str = ""
    days: int = 0
    is_day_over: bool = False
    is_approved: bool = False
    file: "BankFile | None" = None
    was_lost: bool = False

    def __post_init__(self) -> None:
        self.is_reserved = self.reserve > 0

    def __repr__(self) -> str:
        return f"{self.status} {self.name[-4:]}"

    @property
    def is_under_way(self) -> bool:
        return self.status in ("pending", "in_transit")

    @property
    def kept_back(self) -> int:
        """What the available balance lacks because of it."""
        return (0 if self.is_given_back else self.amount) + self.reserved

    @property
    def is_given_back(self) -> bool:
        return self.status in ("failed", "cancelled")

    @property
    def reserved(self) -> int:
        """What is kept of it in reserve, which comes back with it."""
        return self.reserve if self.is_reserved and not self.is_given_back else 0

    def send(self, fate: str) -> None:
        """Send it, or look it up; the bank may refuse the request."""
        if not self.is_under_way:
            return
        if self.status == "pending" and not self.is_asked:
            if fate != REFUSED:
                self.is_asked, self.lookups = True, 0
                self._arrive()
            return
        self.lookups += 1
        if self.booked:
            self._learn()
        elif self.lookups >= ABSENT_TRIES:
            self.is_asked = False
            self.send(fate)

    def end_day(self) -> None:
        """End a day of the bank."""
        self.is_day_over = bool(self.booked) and self.days < len(self._story)

    def receive_report(self) -> None:
        """Receive what the bank reports, unless it is silent."""
        if self.is_day_over and self.number != SILENT:
            self._learn()

    def cancel(self) -> str:
        if self.status != "pending" or self.is_asked or self.file:
            return REFUSED
        self.status, self.requested_by = "cancelled", ""
        return ""

    def approve(self, by: str, limit: int) -> str:
        """Approve a live payout; above the limit, the first approval of one that nobody asked for is the request."""
        if self.status != "pending" or self.is_approved or self.requested_by == by:
            return REFUSED
        self.is_approved = bool(self.requested_by) or (not self.is_by_hand and self.amount <= limit)
        self.requested_by = "" if self.is_approved else by
        return ""

    def record(self, outcome: str) -> str:
        """Record what the bank did with a live payout of a file."""
        if self.status == "in_transit" and outcome == PAID:
            self.status = "paid"
        elif self.status in ("in_transit", "paid") and outcome == RETURNED:
            self.status, self.failure = "failed", "returned"
        else:
            return REFUSED
        return ""

    @property
    def _story(self) -> tuple[str, ...]:
        return BANK.get(self.number, (PAID,))

    def _arrive(self) -> None:
        is_first = not self.lookups and not self.booked and not self.was_lost
        if is_first and self.number == LOSES_REQUEST:
            self.was_lost = True
            return
        self.booked = self.booked or "accepted"
        if not (is_first and self.number == LOSES_ANSWER):
            self._learn()

    def _learn(self) -> None:
        """Learn how the bank has it, after the day that is over."""
        if self.is_day_over:
            self.booked, self.is_day_over = self._story[self.days], False
            self.days += 1
        if self.booked == "accepted":
            self.status = "in_transit"
        elif self.booked == PAID:
            self.status = "paid"
        else:
            self.status = "failed"
            self.failure = "returned" if self.booked == RETURNED else "account_refused"


@dataclass(eq=False)
class BankFile(Requested):
    """A bank file and its payouts; who makes it asks that it is marked as sent."""

    name: str
    made_by: str
    payouts: list[Payout]
    is_downloaded: bool = False
    is_sent: bool = False
    is_cancelled: bool = False

    def __post_init__(self) -> None:
        self.requested_by = self.made_by

    def __repr__(self) -> str:
        return f"file {self.name[-4:]}"

    @property
    def is_open(self) -> bool:
        return not self.is_sent and not self.is_cancelled

    def download(self) -> str:
        if self.is_cancelled:
            return REFUSED
        self.is_downloaded = True
        return ""

    def mark_sent(self, by: str) -> str:
        """Approve the request of another, or make one."""
        if not self.is_open or by == self.requested_by:
            return REFUSED
        if not self.requested_by:
            self.requested_by = by
            return ""
        if not self.is_downloaded:
            return REFUSED
        self.is_sent, self.requested_by = True, ""
        for payout in self.payouts:
            payout.status = "in_transit"
        return ""

    def mark_paid(self, by: str) -> str:
        if by == self.made_by:
            return REFUSED
        found = [payout for payout in self.payouts if payout.status == "in_transit"]
        for payout in found:
            payout.status = "paid"
        return "" if found else REFUSED

    def cancel(self, by: str) -> str:
        if not self.is_open or (by == self.made_by and self.is_downloaded):
            return REFUSED
        self.is_cancelled, self.requested_by = True, ""
        for payout in self.payouts:
            payout.file = None
        return ""


@dataclass(eq=False)
class Balance:
    """What a merchant has in one mode: of its charges, less its payouts.

    `settled_today` is in the settlement of a day that is not over, and that no payout has taken.
    """

    charges: list[Charge] = field(default_factory=list)
    payouts: list[Payout] = field(default_factory=list)
    percent: int = 0
    settled_today: int = 0
    is_day_over: bool = False

    @property
    def pending(self) -> int:
        return sum(net(charge) for charge in self.charges if not charge.is_settled)

    @property
    def available(self) -> int:
        settled = sum(net(charge) for charge in self.charges if charge.is_settled)
        return settled - sum(payout.kept_back for payout in self.payouts)

    @property
    def reserved(self) -> int:
        return sum(payout.reserved for payout in self.payouts)

    @property
    def payable(self) -> int:
        """What a payout would take now: what the merchant owes counts at once, a settlement when its day is over."""
        return self.available - (0 if self.is_day_over else self.settled_today)

    @property
    def next_payout(self) -> tuple[int, int]:
        """Return amount and reserve of a payout that is made now; an amount below one is none."""
        reserve = max(0, self.payable) * self.percent // 100
        return self.payable - reserve, reserve

    def settle(self) -> None:
        """Settle the charges; what settles is in the settlement of today, whose day is not over then."""
        waiting = [charge for charge in self.charges if not charge.is_settled]
        for charge in self.charges:
            charge.settle()
        self.settled_today += sum(net(charge) for charge in waiting if charge.is_settled)
        self.is_day_over = False

    def pay_out(self, payout: Payout) -> None:
        if self.is_day_over:
            self.settled_today = 0
        self.payouts.insert(0, payout)

    def release_reserves(self) -> None:
        for payout in self.payouts:
            payout.is_reserved = False


def net(charge: Charge) -> int:
    """Return what the merchant has of a charge: what was captured, less fee, refunds and what is disputed."""
    if charge.stage != "captured":
        return 0
    is_card = charge.source.behaviour.type == "card"
    share = (charge.amount_captured * FEE_BASIS_POINTS + 5_000) // 10_000
    fee = min(charge.amount_captured, share + FEE_FIXED) if is_card else 0
    disputed = charge.amount_disputed + charge.dispute.fee if charge.dispute and charge.dispute.withdrawn else 0
    return charge.amount_captured - fee - charge.amount_refunded - disputed
