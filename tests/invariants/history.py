"""A busy history made over the API by a merchant, payers, a provider and the worker."""

from typing import Any

from payments import clock
from payments.domain.approvals import decide
from payments.domain.charging import expiry, recovery
from payments.domain.checkout import collect, payments, sessions
from payments.domain.disputes import respond
from payments.domain.payouts import accounts, make, states
from payments.domain.payouts.terms import Terms
from payments.ids import parse_id, public_id
from payments.ledger import settlement
from payments.models import ApprovalRequest, Attempt, Card, Charge, Checkout, Dispute, Merchant, Payout, PayoutAccount
from payments.providers.base import Rejected
from payments.providers.simulator import books
from payments.providers.simulator.models import SimulatedPayment, SimulatedPayout
from payments.tasks import run_sweep
from tests.charging.doubles import Double, LosesAnswers, provider
from tests.charging.elapsed_time import arrive_late, extend, let_time_pass, recover, settle_refunds
from tests.checkout import cast, shelf
from tests.client import (
    ANSWER_LOST,
    APPROVED,
    CHALLENGED,
    DECLINED,
    NEVER_ARRIVES,
    REFUNDS_FAIL,
    REFUNDS_WAIT,
    STOLEN,
    made,
)
from tests.contract.calls import endpoint
from tests.disputes.stories import AT_ONCE, INQUIRY, LOST, WON, a_week_passes, deliver, dispute_on
from tests.invariants.coverage import WatchedApi
from tests.machine.sweeps import Time
from tests.mcp.assistant import ask_for_a_link
from tests.operators import corrections
from tests.operators.factories import ALONE, NOTE, approved, done, person, proposed
from tests.payouts import setups
from tests.payouts.stories import days_pass, give_account, give_schedule, paid_out
from tests.risk.factories import block_card

BLOCKED, WRONG_CVC = "5555555555554444", "4000000000000127"
RATES = {"card": {"PHP": {"basis_points": 350, "fixed": 1500}}, "dispute": {"PHP": {"basis_points": 0, "fixed": 700}}}
# What the simulated bank does with payouts, by the account.
BANKS = {"paid": "000123456789", "failed": "000000000002", "lost": "000000000005", "returned": "000000000003"}
NOTIFY = {
    "success": "https://sari.example/yes",
    "fail": "https://sari.example/no",
    "notify": "https://sari.example/kaha",
}

# By charge: each stage with the amount that it reports, and what the bank has then.
DISPUTED_IN_PARTS = {
    "dispute won in part": [("chargeback", 10_000, 10_000), ("reversed", 4_000, 6_000)],
    "taken again in part": [("chargeback", 12_000, 10_000), ("reversed", 12_000, 0), ("second_chargeback", 400, 400)],
    "before arbitration": [("chargeback", 9_000, 9_000), ("reversed", 9_000, 0), ("prearbitration", 9_000, 0)],
    "lost by arbitration": [("arbitration", 9_000, 0), ("arbitration_lost", 9_000, 9_000)],
}


class History:
    """The history of the shop of `api`; `charges` has the charges by their outcome."""

    def __init__(self, api: WatchedApi) -> None:
        self.api = api
        Merchant.objects.update(rates=RATES)
        self.charges: dict[str, dict[str, Any]] = {}
        made(api.post("/test/clock", {"advance_seconds": 60}))
        self._settled()
        self._paid_out()
        self._taken()
        self._held()
        self._disputed()
        self._responded()
        self._corrected()
        self._not_paid()
        self._paid_by_hand()
        self._kept()
        self._checked_out()
        self._billed()
        self._subscribed()
        self._closed()
        self._by_operators()
        self._decided()
        self._notified()
        self._disputed_in_parts()

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

    def _responded(self) -> None:
        """Respond to disputes: two that the bank takes, one that it refuses and one whose answers are lost."""
        evidence, accepted, refused, lost = (dispute_on(self.api) for _ in range(4))
        made(self.api.post(f"{evidence}/evidence", {"type": "receipt", "text": "Delivered"}))
        made(self.api.post(f"{evidence}/submit"))
        made(self.api.post(f"{accepted}/accept"))
        respond.send_due()
        made(self.api.post(f"{refused}/accept"))
        with provider(Double(respond=Rejected("too_late", "The bank has decided."))):
            respond.send_due()
        made(self.api.post(f"{lost}/accept"))
        Dispute.objects.filter(response_state="pending").update(response_tries=respond.TRIES_MAX - 1)
        with provider(LosesAnswers()):
            respond.send_due()
        deliver()

    def _corrected(self) -> None:
        """Correct one unknown outcome; the provider's own answer comes before the correction of another."""
        corrections.corrected(corrections.unknown_payment(self.api), "approved")
        corrections.proposed(corrections.unknown_payment(self.api))
        recover()
        decide.close_overtaken()

    def _not_paid(self) -> None:
        self._charge("declined", DECLINED)
        self._charge("declined for its security code", WRONG_CVC)
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
        run_sweep("apply_simulator_messages")
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
            api.charge_source(source, schedule="recurring")
        made(api.put(f"/customers/{self.customer}", {"description": "Juan dela Cruz"}))
        expiring = Card.objects.filter(source_id=parse_id("src", self.kept))
        expiring.update(expiring_at=clock.now())
        expiry.announce_expiring_cards()
        api.delete(f"/customers/{self.customer}/sources/{given_up}")
        self.unused = api.source()

    def _checked_out(self) -> None:
        """Sell by sessions and by a link: some is paid, some held, and some has ended."""
        self.sessions = {name: cast.opened(self.api) for name in ("paid", "declined", "at the bank", "expired")}
        self.sessions["held"] = cast.opened(self.api, **cast.SETUP)
        for name in ("captured", "given up"):
            self.sessions[name] = cast.opened(self.api, **(cast.SETUP if name == "captured" else {}))
        cast.pay(self.sessions["captured"])
        made(self.api.post(f"/checkout_sessions/{self.sessions['captured']['id']}/capture", {"amount": 20_000}))
        cast.pay_by_wallet(self.sessions["given up"])
        payments.give_up(cast.row_of(self.sessions["given up"]))
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
        made(self.api.put(f"/payment_links/{self.link['id']}", {"internal_name": "Winter menu"}))
        for verb in ("deactivate", "activate"):
            made(self.api.post(f"/payment_links/{self.link['id']}/{verb}"))
        unpaid = shelf.open_payment(self.link, 1, 1)
        Checkout.objects.filter(id=unpaid.id).update(expires_at=clock.now())
        sessions.expire_due()
        self.bought = shelf.buy(self.link, 1, 0)
        shelf.open_payment(self.link, 0, 1)

    def _billed(self) -> None:
        """Bill by requests: one is paid, one was declined, one is being paid, one is void and one still open."""
        names = ("paid", "declined", "at the bank", "voided", "open")
        self.requests = {name: cast.billed(self.api, customer=self.customer) for name in names}
        self._collected()
        cast.pay(self.requests["paid"])
        for name in ("declined", "voided"):
            cast.pay(self.requests[name], DECLINED)
        cast.pay_by_wallet(self.requests["at the bank"])
        made(self.api.post(f"/payment_requests/{self.requests['voided']['id']}/void", {"reason": "Ordered twice"}))
        made(self.api.post(f"/payment_requests/{self.requests['open']['id']}/resend"))

    def _collected(self) -> None:
        """Bill by requests that collect themselves: each ends otherwise, and one has another day."""
        cards = {"collected": APPROVED, "exhausted": DECLINED, "advice": STOLEN, "gone": APPROVED, "stopped": APPROVED}
        self.requests |= {name: cast.collected(self.api, card, schedule=[0]) for name, card in cards.items()}
        self.requests["collecting"] = cast.collected(self.api, DECLINED)
        path = f"/payment_requests/{self.requests['stopped']['id']}"
        made(self.api.post(f"{path}/stop_collecting"))
        made(self.api.delete(f"/customers/{self.requests['gone']['customer']}"))
        collect.collect_due()
        made(self.api.post(f"{path}/collect"))
        made(self.api.post(f"{path}/stop_collecting"))
        void = f"/payment_requests/{cast.collected(self.api)['id']}/void"
        made(self.api.post(void, {"reason": "Ordered twice"}))

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

    def _closed(self) -> None:
        """End what was under way when the merchant was closed, which is taken back then."""
        session = cast.opened(self.api)
        charge = cast.pay_by_wallet(session)
        Merchant.objects.update(status="closed")
        books.approve(SimulatedPayment.objects.get(reference=charge.attempts.get().reference), send_message=True)
        run_sweep("apply_simulator_messages")
        Merchant.objects.update(status="active")

    def _by_operators(self) -> None:
        nena = person("nena")
        self._charge("refunded by one")
        done(proposed("refund", ALONE, proposed_by=nena))
        self._charge("refunded by two")
        done(approved(proposed("refund", ALONE + 1, proposed_by=nena)))

        for kind, is_held in (("capture", True), ("release", True), ("extend", True), ("void", False)):
            self._charge(f"{kind} by one", capture=not is_held)
            done(proposed(kind, ALONE if kind == "capture" else 10_000, proposed_by=nena))

    def _decided(self) -> None:
        """Request what is rejected, withdrawn, refused, forgotten, or about no charge."""
        self._charge("left alone")
        decide.reject(proposed(), person("ben", "finance"), NOTE)
        withdrawn = proposed()
        decide.withdraw(withdrawn, withdrawn.proposed_by, NOTE)
        ApprovalRequest.objects.filter(id=proposed().id).update(expires_at=clock.now())
        decide.expire()
        refused = approved(proposed())
        self._do("refund", "left alone")
        done(refused)
        merchant = Merchant.objects.get()
        approved(ask_for_a_link(merchant))
        approved(setups.requested_account(merchant))
        approved(setups.requested_schedule(merchant, Terms()))
        accounts.withdraw(PayoutAccount.objects.get(livemode=True))

    def _notified(self) -> None:
        """Have an endpoint that is changed, asked for a test, given another secret, and deleted."""
        path = f"/webhook_endpoints/{endpoint(self.api)['id']}"
        made(self.api.put(path, {"description": "Orders"}))
        for verb in ("test", "roll_secret"):
            made(self.api.post(f"{path}/{verb}"))
        assert self.api.delete(path).status_code < 300

    def _paid_out(self) -> None:
        """Pay out by hand: what the bank pays, with a reserve kept or released, fails, loses or returns; one waits."""
        merchant = Merchant.objects.get()
        give_account(merchant)
        schedule = give_schedule(merchant, reserve_percent=10, reserve_days=30)
        days_pass(1)
        paid_out(schedule)
        days_pass(31)
        states.release_reserves()
        self.payouts: dict[str, Payout] = {}
        for name, number in BANKS.items():
            self._charge(f"settled before {name}")
            self._settle()
            days_pass(1)
            give_account(merchant, number)
            self.payouts[name] = paid_out(schedule)
        made(self.api.post("/test/events", {"type": "payout.cancelled"}))
        self.payouts["pending"] = make.make_now(schedule.id)
        SimulatedPayout.objects.filter(reference=self.payouts["failed"].id.hex).update(state="paid")
        states.mark_paid_late(self.payouts["failed"])
        self._charge("settled last")
        self._settle()

    def _settle(self) -> None:
        let_time_pass(Charge, "settle_due_at")
        settlement.settle_due()

    def _disputed_in_parts(self) -> None:
        """Have banks return a part, take one again, and ask before arbitration, of charges whose books they keep."""
        merchant = Merchant.objects.get()
        for name, stages in DISPUTED_IN_PARTS.items():
            self._charge(name)
            for stage, amount, withdrawn in stages:
                Time(merchant).dispute(self.charges[name]["id"], stage, amount, withdrawn)
