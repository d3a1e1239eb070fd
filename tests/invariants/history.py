"""A busy history made over the API by a merchant, payers, a provider and the worker."""

from typing import Any

from payments import clock
from payments.domain.charging import expiry, recovery
from payments.domain.checkout import sessions
from payments.domain.payouts import approve, make
from payments.ids import parse_id, public_id
from payments.ledger import settlement
from payments.models import Attempt, Charge, Checkout, Merchant
from payments.providers.simulator import books
from payments.providers.simulator.models import SimulatedPayment
from payments.tasks import apply_simulator_messages
from tests.charging.elapsed_time import let_time_pass, recover
from tests.charging.hold_extensions import extend
from tests.charging.lateness import arrive_late, settle_refunds
from tests.checkout import cast, shelf
from tests.client import (
    ANSWER_LOST,
    APPROVED,
    CHALLENGED,
    DECLINED,
    NEVER_ARRIVES,
    REFUNDS_FAIL,
    REFUNDS_WAIT,
    Api,
    made,
)
from tests.disputes.stories import AT_ONCE, INQUIRY, LOST, WON, a_week_passes, deliver
from tests.operators.factories import ALONE, approved, done, person, proposed
from tests.payouts.stories import days_pass, give_account, give_schedule, paid_out
from tests.risk.factories import block_card

BLOCKED = "5555555555554444"
RATES = {
    "card": {"PHP": {"basis_points": 350, "fixed": 1500}},
    "dispute": {"PHP": {"basis_points": 0, "fixed": 700}},
}
NOTIFY = {
    "success": "https://sari.example/yes",
    "fail": "https://sari.example/no",
    "notify": "https://sari.example/kaha",
}


class History:
    """The history of the shop of `api`; `charges` has the charges by their outcome."""

    def __init__(self, api: Api) -> None:
        self.api = api
        Merchant.objects.update(rates=RATES)
        self.charges: dict[str, dict[str, Any]] = {}
        self._settled()
        self._paid_out()
        self._taken()
        self._held()
        self._disputed()
        self._not_paid()
        self._paid_by_hand()
        self._kept()
        self._checked_out()
        self._billed()
        self._subscribed()
        self._by_operators()

    def charge(self, name: str) -> Charge:
        """Return the charge of that name, as it is now."""
        return Charge.objects.get(id=parse_id("ch", self.charges[name]["id"]))

    def attempt(self, name: str, kind: str = "authorize") -> Attempt:
        return Attempt.objects.get(charge=self.charge(name), kind=kind)

    def payment(self, name: str) -> SimulatedPayment:
        """Return the simulator's payment for the charge of that name."""
        return SimulatedPayment.objects.get(reference=self.attempt(name).reference)

    def _charge(self, name: str, number: str = APPROVED, **members: Any) -> None:
        source = self.api.source(number, redirect=NOTIFY)
        order = {"amount": 10_000, "currency": "PHP", "source": source, "description": name, **members}
        self.charges[name] = made(self.api.post("/charges/", order, key=f"key of {name}"))

    def _do(self, verb: str, name: str, amount: int | None = None) -> None:
        made(self.api.post(f"/charges/{self.charges[name]['id']}/{verb}", {"amount": amount} if amount else None))

    def _settled(self) -> None:
        self._charge("settled")
        self._charge("settled, refunded")
        self._charge("settled, refund returned", REFUNDS_FAIL)
        self._settle()
        self._do("refund", "settled, refunded")
        self._do("refund", "settled, refund returned", 3_000)
        self._settle()
        settle_refunds()
        self._settle()

    def _taken(self) -> None:
        self._charge("captured")
        self._charge("part refunded")
        self._do("refund", "part refunded", 2_500)
        self._do("refund", "part refunded", 500)
        self._charge("refunded")
        self._do("refund", "refunded")
        self._charge("refund returned", REFUNDS_FAIL)
        self._do("refund", "refund returned")
        self._charge("refund arrived", REFUNDS_WAIT)
        self._do("refund", "refund arrived", 4_000)
        settle_refunds()
        self._charge("refund pending", REFUNDS_WAIT)
        self._do("refund", "refund pending", 4_000)
        self._charge("voided")
        self._do("void", "voided")

    def _held(self) -> None:
        self._charge("expired", capture=False)
        let_time_pass(Charge, "hold_expires_at")
        expiry.void_expired_holds()
        self._charge("held", capture=False)
        self._charge("extended", capture=False)
        extend(self.charges["extended"])
        self._charge("part captured", capture=False)
        self._do("capture", "part captured", 6_000)
        self._charge("released", capture=False)
        self._do("void", "released")

    def _disputed(self) -> None:
        self._charge("disputed", AT_ONCE)
        self._charge("asked about", INQUIRY)
        self._charge("dispute won", WON)
        self._charge("dispute lost", LOST)
        deliver()
        a_week_passes()
        a_week_passes()

    def _not_paid(self) -> None:
        self._charge("declined", DECLINED)
        block_card(BLOCKED)
        self._charge("blocked", BLOCKED)
        self._charge("never arrived", NEVER_ARRIVES)
        self._charge("came late", NEVER_ARRIVES)
        self._charge("answer lost", ANSWER_LOST)
        recover()
        self._come_late()
        self._charge("unknown", ANSWER_LOST)

    def _come_late(self) -> None:
        recovery.apply_event(arrive_late(self.attempt("came late")))
        recover()

    def _paid_by_hand(self) -> None:
        self._charge("awaiting", CHALLENGED)
        self._charge("passed", CHALLENGED)
        books.approve(self.payment("passed"), send_message=True)
        self._charge("cancelled", CHALLENGED)
        books.decline(self.payment("cancelled"), "payer_cancelled", send_message=True)
        apply_simulator_messages()
        self._wallet("wallet", "gcash")
        self._wallet("pin", "bpi")
        confirmation = self.charges["pin"]["action"]["confirmation_id"]
        otp = {"confirmation_id": confirmation, "otp": "123456"}
        made(self.api.post(f"/charges/{self.charges['pin']['id']}/verify", otp))

    def _wallet(self, name: str, kind: str) -> None:
        self.charges[name] = self.api.charge_source(self.api.wallet(kind))

    def _kept(self) -> None:
        api = self.api
        self.customer = made(api.post("/customers/", {"email": "juan@example.com", "description": "Juan"}))["id"]
        self.kept, given_up = api.source(), api.source()
        for source in (self.kept, given_up):
            made(api.post(f"/customers/{self.customer}/sources", {"source": source}))
            self.charges["on a kept source"] = api.charge_source(source)
            api.charge_source(source)
        api.delete(f"/customers/{self.customer}/sources/{given_up}")
        self.unused = api.source()

    def _checked_out(self) -> None:
        """Sell by sessions and by a link: some is paid, some held, and some has ended."""
        self.sessions = {name: cast.opened(self.api) for name in ("paid", "declined", "at the bank", "expired")}
        self.sessions["held"] = cast.opened(self.api, **cast.SETUP)
        cast.pay(self.sessions["paid"])
        cast.pay(self.sessions["held"])
        cast.pay(self.sessions["declined"], DECLINED)
        cast.pay_by_wallet(self.sessions["at the bank"])
        self.sessions["kept"] = cast.opened(self.api, **cast.SAVE_CARD, customer=self.customer)
        cast.save(self.sessions["kept"])
        self.request = cast.billed(self.api, customer=self.customer)
        cast.pay(self.request, DECLINED)
        cast.pay(self.request)
        made(self.api.post(f"/checkout_sessions/{self.sessions['expired']['id']}/expire"))
        self.link = shelf.linked(self.api)
        unpaid = shelf.open_payment(self.link, 1, 1)
        Checkout.objects.filter(id=unpaid.id).update(expires_at=clock.now())
        sessions.expire_due()
        self.bought = shelf.buy(self.link, 1, 0)
        shelf.open_payment(self.link, 0, 1)

    def _billed(self) -> None:
        """Bill by requests: one is paid, one was declined, one is being paid, one is void and one still open."""
        names = ("paid", "declined", "at the bank", "voided", "open")
        self.requests = {name: cast.billed(self.api, customer=self.customer) for name in names}
        cast.pay(self.requests["paid"])
        for name in ("declined", "voided"):
            cast.pay(self.requests[name], DECLINED)
        cast.pay_by_wallet(self.requests["at the bank"])
        made(self.api.post(f"/payment_requests/{self.requests['voided']['id']}/void", {"reason": "Ordered twice"}))
        made(self.api.post(f"/payment_requests/{self.requests['open']['id']}/resend"))

    def _subscribed(self) -> None:
        """Keep cards by sessions: with a charge that is paid, declined or under way, and without one."""
        for name, number in (("subscribed", APPROVED), ("not subscribed", DECLINED), ("subscribing", CHALLENGED)):
            self.sessions[name] = cast.opened(self.api, **cast.SUBSCRIPTION, customer=self.customer)
            charge = cast.pay(self.sessions[name], number)
            if charge.captured:
                self.api.charge_source(public_id("src", charge.source_id))
        leaving = cast.customer(self.api)
        cast.pay(cast.opened(self.api, **cast.SUBSCRIPTION, customer=leaving), CHALLENGED)
        made(self.api.delete(f"/customers/{leaving}"))
        for name, number in (("saved", APPROVED), ("not saved", DECLINED), ("saving", CHALLENGED)):
            self.sessions[name] = cast.opened(self.api, **cast.SAVE_CARD, customer=self.customer)
            cast.save(self.sessions[name], number)

    def _by_operators(self) -> None:
        nena = person("nena")
        self._charge("refunded by one")
        done(proposed("refund", ALONE, proposed_by=nena))
        self._charge("refunded by two")
        done(approved(proposed("refund", ALONE + 1, proposed_by=nena)))

    def _paid_out(self) -> None:
        """Pay out by hand: a payout that is paid and keeps a reserve, one that is returned, and one that waits."""
        merchant = Merchant.objects.get()
        give_account(merchant)
        schedule = give_schedule(merchant, reserve_percent=10, reserve_days=30)
        days_pass(1)
        self.payouts = {"paid": paid_out(schedule)}
        self._charge("settled later")
        self._settle()
        days_pass(1)
        give_account(merchant, "000000000003")
        self.payouts["returned"] = paid_out(schedule)
        approve.cancel(make.make_now(schedule.id))
        self.payouts["pending"] = make.make_now(schedule.id)
        self._charge("settled last")
        self._settle()

    def _settle(self) -> None:
        let_time_pass(Charge, "settle_due_at")
        settlement.settle_due()
