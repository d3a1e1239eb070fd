"""Live payouts and the bank files that they are sent in: asked for and approved by two people."""

from collections.abc import Iterable

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from payments.domain.approvals import decide, payouts
from payments.domain.approvals.kinds.payouts import Outcome, record_outcome
from payments.domain.operators.four_eyes import Refused
from payments.domain.payouts import files, states
from payments.domain.payouts.make import NothingToPay
from payments.ids import new_id
from payments.models import ApprovalRequest, PayoutFile
from payments.models import Payout as PayoutRow
from tests.client import made
from tests.machine.behaviours import APPROVED
from tests.machine.comparison import check_refused
from tests.machine.history import one_of
from tests.machine.model import Charge, Source
from tests.machine.payout_model import PAID, RETURNED, Balance, BankFile, Payout
from tests.machine.payouts import CARD, OPERATORS, PayingMachine, check_payouts, operators
from tests.operators.factories import ALONE, REASON
from tests.payouts.live import PAY_ON
from tests.routing.doubles import account_at, route_to

MOST_LIVE_CHARGES = 8
FOLLOWS = ("sent", "sent", "paid", "returned", "cancel", "pay out")
# Within the approval limit of one operator, and above it.
amounts = st.integers(100, 1_000) | st.integers(2 * ALONE, 10 * ALONE)

has_live = precondition(lambda history: history.live.charges)
has_live_payouts = precondition(lambda history: history.live.payouts)
live_charges = one_of(lambda history: history.live.charges)
any_live = one_of(
    lambda history: history.live.payouts + 4 * [each for each in history.live.payouts if each.status == "pending"]
)
on_its_way = one_of(lambda history: history.live.payouts + 4 * [each for each in history.live.payouts if each.file])
any_live_or_file = one_of(lambda history: [*history.live.payouts, *history.files])
has_files = precondition(lambda history: history.files)
any_file = one_of(lambda history: history.files + 4 * [each for each in history.files if each.is_open])


class FilingMachine(PayingMachine):
    """All of the machine, with the same merchant's payouts in live mode."""

    @initialize()
    def set_up_files(self) -> None:
        # A file takes what is approved of all merchants, and earlier histories left some.
        for payout in PayoutRow.objects.for_file().select_related("account"):
            states.cancel(payout)
        self.live = Balance()
        self.files: list[BankFile] = []
        route_to(account_at(self.psp, self.merchant))
        self.time.set_account("000123456789", livemode=True)
        self.set_live_reserve(0)

    @rule(percent=st.sampled_from([0, 0, 25]))
    def set_live_reserve(self, percent: int) -> None:
        self.live_schedule = self.time.set_schedule(percent, livemode=True)
        self.live.percent = percent

    @precondition(lambda history: len(history.live.charges) < MOST_LIVE_CHARGES)
    @rule(amount=amounts)
    def earn(self, amount: int) -> None:
        """Take a live payment and settle it, on a day that is over."""
        charge = Charge(Source("", CARD), amount, capture_at_once=True, decision=APPROVED)
        charge.name = self.live_api.charge(CARD.number, amount)["id"]
        charge.receive_reports()
        self.live.charges.append(charge)
        self.time.settle_live(days_ago=1 + MOST_LIVE_CHARGES - len(self.live.charges))
        self.live.settle()
        self.live.is_day_over = True

    @has_live
    @rule(charge=live_charges, percent=st.integers(1, 100))
    def refund_live(self, charge: Charge, percent: int) -> None:
        amount = max(1, charge.amount_captured * percent // 100)
        response = self.live_api.post(f"/charges/{charge.name}/refund", {"amount": amount})
        if refusal := charge.refund(amount, ""):
            check_refused(response, refusal)
        else:
            made(response)

    @has_live
    @rule(operator=operators)
    def pay_out_live(self, operator: str) -> None:
        amount, reserve = self.live.next_payout
        try:
            payout = payouts.pay_out(self.live_schedule, self.operators[operator], REASON)
        except NothingToPay:
            assert amount < 1
            return
        self.live.pay_out(Payout(str(payout), amount, reserve, is_by_hand=True, requested_by=operator))
        self.check_parts(self.live_api, self.live.payouts[0])

    @has_live
    @rule()
    def run_live_schedule(self) -> None:
        amount, reserve = self.live.next_payout
        self.time.run_schedule(self.live_schedule)
        if amount >= 1:
            newest = made(self.live_api.get("/payouts/", limit=1))["data"][0]
            self.live.pay_out(Payout(newest["id"], amount, reserve))

    @precondition(lambda history: len(history.live.charges) < MOST_LIVE_CHARGES)
    @rule(amount=amounts, maker=operators, sender=operators, follows=st.lists(st.sampled_from(FOLLOWS), max_size=4))
    def earn_and_make_file(self, amount: int, maker: str, sender: str, follows: list[str]) -> None:
        """Have the steps follow each other, which chance alone seldom brings together."""
        self.earn(amount)
        self.run_live_schedule()
        for payout in self.live.payouts[:1]:
            for operator in OPERATORS if payout.amount > ALONE else OPERATORS[:1]:
                self.approve_payout(payout, operator)
        self.make_file(maker)
        for step in follows if self.files else ():
            self.follow_file(step, self.files[-1], sender)

    def follow_file(self, step: str, file: BankFile, sender: str) -> None:
        match step:
            case "sent":
                self.download(file)
                self.mark_sent(file, sender)
            case "paid":
                self.mark_paid(file, sender)
            case "returned":
                self.record_payout(file.payouts[0], RETURNED)
            case "cancel":
                self.cancel_file(file, sender)
            case _:
                self.pay_out_live(sender)

    @has_live_payouts
    @rule(payout=any_live, operator=operators)
    def approve_payout(self, payout: Payout, operator: str) -> None:
        row, user = self.time.payout(payout.name), self.operators[operator]
        self.operated(decide.approve_or_ask, row, user, REASON, expected=payout.approve(operator, ALONE))

    @has_live_payouts
    @rule(asked=any_live_or_file, operator=operators, is_withdrawn=st.booleans())
    def end_request(self, asked: Payout | BankFile, operator: str, is_withdrawn: bool) -> None:
        for request in self.requests_of(asked):
            verb = decide.withdraw if is_withdrawn else decide.reject
            expected = asked.end_request(operator, is_withdrawn)
            self.operated(verb, request, self.operators[operator], REASON, expected=expected)

    @has_live_payouts
    @rule(payout=any_live)
    def cancel_live_payout(self, payout: Payout) -> None:
        self.operated(payouts.cancel, self.time.payout(payout.name), expected=payout.cancel())

    @has_live_payouts
    @rule()
    def release_live_reserves(self) -> None:
        self.time.release_reserves(livemode=True)
        self.live.release_reserves()

    @has_live_payouts
    @rule(operator=operators)
    def make_file(self, operator: str) -> None:
        taken = [each for each in self.live.payouts if each.is_approved and each.status == "pending" and not each.file]
        try:
            row = payouts.make_file(new_id(), "PHP", PAY_ON, self.operators[operator], REASON)
        except Refused:
            assert not taken
            return
        assert (row.count, row.total) == (len(taken), sum(payout.amount for payout in taken))
        file = BankFile(row.id.hex, operator, taken)
        self.files.append(file)
        for payout in taken:
            payout.file = file

    @has_files
    @rule(file=any_file)
    def download(self, file: BankFile) -> None:
        self.operated(files.download, _row(file), expected=file.download())

    @has_files
    @rule(file=any_file, operator=operators)
    def mark_sent(self, file: BankFile, operator: str) -> None:
        row, user = _row(file), self.operators[operator]
        self.operated(decide.approve_or_ask, row, user, REASON, expected=file.mark_sent(operator))

    @has_files
    @rule(file=any_file, operator=operators)
    def mark_paid(self, file: BankFile, operator: str) -> None:
        self.operated(files.mark_paid, _row(file), self.operators[operator], expected=file.mark_paid(operator))

    @has_files
    @rule(file=any_file, operator=operators)
    def cancel_file(self, file: BankFile, operator: str) -> None:
        self.operated(payouts.cancel_file, _row(file), self.operators[operator], expected=file.cancel(operator))

    @has_live_payouts
    @rule(payout=on_its_way, outcome=st.sampled_from([PAID, RETURNED]))
    def record_payout(self, payout: Payout, outcome: str) -> None:
        row = self.time.payout(payout.name)
        self.operated(record_outcome, row.id, Outcome(outcome), row.status, expected=payout.record(outcome))

    @invariant()
    def live_payouts_are_as_in_the_model(self) -> None:
        if hasattr(self, "live"):
            check_payouts(self.live_api, self.live)
            for each in (*self.live.payouts, *self.files):
                asked = [str(request.proposed_by) for request in self.requests_of(each)]
                assert asked == [each.requested_by] * bool(each.requested_by)

    def requests_of(self, each: Payout | BankFile) -> Iterable[ApprovalRequest]:
        return payouts.requests_of(_row(each) if isinstance(each, BankFile) else self.time.payout(each.name))


def _row(file: BankFile) -> PayoutFile:
    return PayoutFile.objects.get(id=file.name)
