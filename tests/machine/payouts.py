"""Payouts of what charges, refunds and disputes leave, to a bank that pays, refuses, returns or is silent."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from payments.domain.approvals import payouts
from payments.domain.operators.four_eyes import Refused
from payments.domain.payouts.make import NothingToPay
from payments.providers.base import Rejected
from tests.charging.doubles import Double, provider
from tests.client import Api, made
from tests.machine.behaviours import Behaviour
from tests.machine.disputes import DisputingMachine
from tests.machine.history import one_of
from tests.machine.machine import MOST_CHARGES
from tests.machine.model import Charge
from tests.machine.payout_model import BANK, LOSES_ANSWER, LOSES_REQUEST, REFUSED, SILENT, Balance, Payout
from tests.operators.factories import REASON, person
from tests.payouts.readings import all_pages

ORDINARY_NUMBER = "6789"
NO_BALANCE = Rejected("no_balance", "Your balance has too little.")
numbers = st.sampled_from([ORDINARY_NUMBER, *BANK, SILENT]) | st.sampled_from([LOSES_ANSWER, LOSES_REQUEST])
OPERATORS = ("ana", "ben")
operators = st.sampled_from(OPERATORS)
CARD = Behaviour(number="4000000000003055")
amounts = st.integers(1_000, 100_000)
reserves = st.sampled_from([0, 0, 10, 99])
FOLLOWS = (
    "send",
    "send",
    "refused",
    "bank",
    "bank",
    "cancel",
    "send and cancel",
    "release",
    "refund",
    "dispute",
    "schedule",
)
PAYOUT_MEMBERS = ("id", "amount", "reserve", "status")

has_captured = precondition(lambda history: any(each.stage == "captured" for each in history.charges))
has_payouts = precondition(lambda history: history.balance.payouts)
any_payout = one_of(
    lambda history: history.balance.payouts + 4 * [each for each in history.balance.payouts if each.is_under_way]
)


class PayingMachine(DisputingMachine):
    """All of the machine, with payouts in test mode."""

    @initialize()
    def set_up_payouts(self) -> None:
        self.balance = Balance(self.charges)
        self.operators = {name: person(name, "finance") for name in OPERATORS}
        self.set_account(ORDINARY_NUMBER)
        self.set_reserve(0)

    @rule(number=numbers)
    def set_account(self, number: str) -> None:
        self.time.set_account(f"00012345{number}")
        self.number = number

    @rule(percent=reserves)
    def set_reserve(self, percent: int) -> None:
        self.schedule = self.time.set_schedule(percent)
        self.balance.percent = percent

    @has_captured
    @rule()
    def settle(self) -> None:
        self.time.settle()
        self.balance.settle()

    @precondition(lambda history: len(history.charges) < MOST_CHARGES)
    @rule(amount=amounts, number=numbers, percent=reserves, follows=st.lists(st.sampled_from(FOLLOWS), max_size=5))
    def earn_and_pay_out(self, amount: int, number: str, percent: int, follows: list[str]) -> None:
        """Have the steps follow each other, which chance alone seldom brings together."""
        self.set_account(number)
        self.set_reserve(percent)
        self.create_source_and_charge(CARD, amount, True, False)
        charge, before = self.charges[-1], len(self.balance.payouts)
        self.settle()
        self.end_settlement()
        self.pay_out("ana")
        for step in follows if len(self.balance.payouts) > before else ():
            self.follow(step, charge)

    def follow(self, step: str, charge: Charge) -> None:
        match step:
            case "send" | "refused":
                self.send_payouts(REFUSED if step == "refused" else "")
            case "bank":
                self.let_the_bank_act()
            case "cancel":
                self.cancel_payout(self.balance.payouts[0])
            case "send and cancel":
                self.send_payouts("")
                self.cancel_payout(self.balance.payouts[0])
            case "release":
                self.release_reserves()
            case "refund":
                self.refund(charge, 30, "")
            case "dispute":
                self.report_dispute(charge, "chargeback", 50)
            case _:
                self.run_schedule(2)

    @precondition(lambda history: not history.balance.is_day_over)
    @rule()
    def end_settlement(self) -> None:
        self.time.end_settlement()
        self.balance.is_day_over = True

    @rule(operator=operators)
    def pay_out(self, operator: str) -> None:
        amount, reserve = self.balance.next_payout
        try:
            payout = payouts.pay_out(self.schedule, self.operators[operator], REASON)
        except NothingToPay:
            assert amount < 1
            return
        assert (payout.amount, payout.reserve) == (amount, reserve)
        self.balance.pay_out(Payout(str(payout), amount, reserve, self.number, is_by_hand=True))
        self.check_parts(self.api, self.balance.payouts[0])

    @rule(times=st.integers(1, 2))
    def run_schedule(self, times: int) -> None:
        """Run the schedule; the second time there is nothing left to pay."""
        amount, reserve = self.balance.next_payout
        for _ in range(times):
            self.time.run_schedule(self.schedule)
        if amount >= 1:
            newest = made(self.api.get("/payouts/", limit=1))["data"][0]
            self.balance.pay_out(Payout(newest["id"], amount, reserve, self.number))
            self.check_parts(self.api, self.balance.payouts[0])

    @has_payouts
    @rule(payout=any_payout)
    def cancel_payout(self, payout: Payout) -> None:
        self.operated(payouts.cancel, self.time.payout(payout.name), expected=payout.cancel())

    @has_payouts
    @rule(fate=st.sampled_from(["", "", REFUSED]))
    def send_payouts(self, fate: str) -> None:
        """Send what is due and look up what is on its way; the provider may refuse our requests."""
        if fate:
            with provider(Double(create_payout=NO_BALANCE)):
                self.time.send_payouts()
        else:
            self.time.send_payouts()
        for payout in self.balance.payouts:
            payout.send(fate)

    @has_payouts
    @rule()
    def let_the_bank_act(self) -> None:
        self.time.end_bank_day()
        for payout in self.balance.payouts:
            payout.end_day()
        self.receive_reports()
        for payout in self.balance.payouts:
            payout.receive_report()

    @has_payouts
    @rule()
    def release_reserves(self) -> None:
        self.time.release_reserves(livemode=False)
        self.balance.release_reserves()

    def operated(self, verb: Any, *args: Any, expected: str) -> None:
        """Fail unless what an operator does is refused where the model refuses it, and only there."""
        try:
            verb(*args)
        except Refused:
            assert expected == REFUSED, f"{verb.__name__} was refused"
        else:
            assert not expected, f"{verb.__name__} was not refused"

    def check_parts(self, api: Api, payout: Payout) -> None:
        """Fail unless what a payout is made of adds up to it."""
        parts = all_pages(api, f"/payouts/{payout.name}/transactions/", limit=3)
        assert sum(part["amount"] for part in parts) == payout.amount + payout.reserve

    @invariant()
    def payouts_are_as_in_the_model(self) -> None:
        if not hasattr(self, "balance"):
            return
        self.events.read_on()
        check_payouts(self.api, self.balance)
        for payout in self.balance.payouts:
            shown = self.events.last[payout.name]["data"]["object"]
            assert (shown["status"], shown.get("failure_code", "")) == (payout.status, payout.failure)


def check_payouts(api: Api, balance: Balance) -> None:
    """Fail unless the API shows the payouts and the balance of the model."""
    answers = made(api.get("/payouts/", limit=100))["data"]
    shown = [tuple(answer[name] for name in PAYOUT_MEMBERS) for answer in answers]
    assert shown == [(each.name, each.amount, each.reserve, each.status) for each in balance.payouts]
    answer = made(api.get("/balance/"))
    amounts = {name: answer[name][0]["amount"] for name in ("pending", "available", "reserved")}
    expected = {name: getattr(balance, name) for name in amounts}
    assert amounts == expected
