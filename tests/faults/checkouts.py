"""One checkout and its payers, through any crash: it is paid, or keeps a card, once, or ends without.

It is a session in any mode, a request, or a payment of a link.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from uuid import UUID

from payments.domain.charging.checkouts.checkout_progress import State
from payments.domain.checkout import payments
from payments.domain.checkout.payments import Choice
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.shared.errors import PaymentError
from payments.models import Charge, Checkout, Event, PaymentRequest, Source
from payments.providers.simulator.books import approve, decline, find_page
from payments.providers.simulator.models import Entry, SimulatedPayment
from payments.tasks import run_sweep
from tests.checkout import shelf
from tests.checkout.cast import ADDRESS, SAVE_CARD, SETUP, SUBSCRIPTION, billed, card, collected, customer, opened
from tests.client import ANSWER_LOST, APPROVED, CHALLENGED, DECLINED, NEVER_ARRIVES, Api
from tests.faults.books import differences, not_found_out
from tests.faults.elapsed_time import let_pass, let_pass_for_check
from tests.faults.jobs import Fault, Kill, Stall, recover
from tests.faults.life import ROUNDS_SECONDS
from tests.faults.proxy import Cut
from tests.faults.verbs import ACTION_SECONDS, ANNOUNCED, OPEN, RECORD, STALL
from tests.faults.world import World

CARDS = (APPROVED, APPROVED, DECLINED, CHALLENGED, ANSWER_LOST, NEVER_ARRIVES)
STEPS = (*OPEN, *RECORD, *ANNOUNCED)
# What the charges of a session in each state may be, beside those that failed.
CHARGED = {
    State.UNPAID: ([],),
    State.PAYING: (["pending"],),
    State.AUTHORIZED: (["succeeded"],),
    State.PAID: (["succeeded"], ["refunded"]),
    State.VOIDED: (["voided"], []),
    State.EXPIRED: ([],),
}


@dataclass(frozen=True)
class Pay:
    """A payer's form, sent with a card; the number of attempts is that of the page that was shown.

    Where the card is only kept and its issuer asks, the payer may `confirm` or refuse there, and comes back.
    """

    session: str
    number: str
    confirm: bool

    def __call__(self) -> None:
        row = payments.checkout_of_page(self.session)
        assert row
        choice = Choice(type="card", card=card(self.number), attempt=row.attempts)
        with suppress(PaymentError):
            if row.mode != Checkout.Mode.SAVE_CARD:
                payments.pay(row, choice, ADDRESS)
                return
            payments.save_card(row, choice, ADDRESS)
            if row.check_url and (page := find_page(row.check_url.rpartition("/")[2])):
                if self.confirm:
                    approve(page, send_message=True)
                else:
                    decline(page, "authentication_failed", send_message=True)
                payments.come_back(row, {}, ADDRESS)


@dataclass(frozen=True)
class GiveUp:
    """The payer comes back from the bank's page to pay otherwise."""

    session: str

    def __call__(self) -> None:
        row = payments.checkout_of_page(self.session)
        assert row
        payments.give_up(row)


@dataclass(frozen=True)
class Post:
    """A program ends or captures the session, or voids the request."""

    api_key: str
    path: str
    reason: str = ""

    def __call__(self) -> None:
        Api(self.api_key).post(self.path, {"reason": self.reason} if self.reason else None)


@dataclass(frozen=True)
class TimeEnds:
    """The time of the session is over, and a worker ends it."""

    session: str

    def __call__(self) -> None:
        Checkout.objects.filter(id=row_id(self.session)).update(expires_at="2026-01-01T00:00:00Z")
        run_sweep("expire_checkouts")


@dataclass(frozen=True)
class Collect:
    """The days pass until the next try of a request, and a worker makes it."""

    session: str

    def __call__(self) -> None:
        waiting = PaymentRequest.objects.filter(checkout_id=row_id(self.session), collect_at__isnull=False)
        waiting.update(collect_at="2026-01-01T00:00:00Z")
        run_sweep("collect_requests")


def row_id(session: str) -> UUID:
    """Return the ID of the row of a session, a request or a payment of a link."""
    return UUID(hex=session.partition("_")[2])


def run_checkout(world: World, shop: NewMerchant, random: Random, order: str | None = None) -> "CheckoutLife":
    """Run a whole life of one checkout, chosen by `random`; `order` "collected" makes it a collecting request."""
    life = CheckoutLife(world, shop, random, order)
    life.run()
    return life


Act = Pay | GiveUp | Post | TimeEnds | Collect


@dataclass
class CheckoutLife:
    """Everything that is done to one checkout of `shop`, counted as in `Life`."""

    world: World
    shop: NewMerchant
    random: Random
    order: str | None = None
    done: Counter[tuple[str, Fault]] = field(default_factory=Counter)
    killed: Counter[tuple[str, Fault]] = field(default_factory=Counter)
    findings: list[tuple[str, str]] = field(default_factory=list)
    # How many tries a request had made when its collecting was found to have ended.
    tries_at_end: int | None = None

    def run(self, steps: int = 4) -> None:
        """Open a checkout and do so many things to it, each under a fault."""
        api = Api(self.shop.keys["sk_test"])
        self.session = self._opened(api)
        for _ in range(steps):
            act = self._drawn(api.key)
            fault = self._fault()
            ending = self.world.expose(act, fault, meanwhile=self._find_out)
            counted = type(act).__name__, fault
            self.done[counted] += 1
            self.killed[counted] += ending.killed
            self._find_out()
            # A key in a request is never shown.
            shown = act.path if isinstance(act, Post) else act
            self.findings += [(what, f"{line} after {shown} under {fault}") for what, line in self._faults()]

    def _opened(self, api: Api) -> str:
        """Open a session in one of the modes, a request or a payment of a link; return its ID."""
        order = self.order or self.random.choice([{}, SETUP, SAVE_CARD, SUBSCRIPTION, "request", "collected", "link"])
        if order == "collected":
            return str(collected(api, self.random.choice([APPROVED, APPROVED, DECLINED, NEVER_ARRIVES]))["id"])
        if order == "request":
            return str(billed(api)["id"])
        if order == "link":
            return str(shelf.open_payment(shelf.linked(api), 1, 1))
        keeps = order in (SAVE_CARD, SUBSCRIPTION)
        return str(opened(api, **order, **({"customer": customer(api)} if keeps else {}))["id"])

    def _drawn(self, key: str) -> Act:
        path = f"/checkout_sessions/{self.session}"
        pay = Pay(self.session, self.random.choice(CARDS), self.random.choice([True, False]))
        ends: list[Act] = [Post(key, f"{path}/expire"), Post(key, f"{path}/capture"), TimeEnds(self.session)]
        if self.session.startswith("pr"):
            ends = [Post(key, f"/payment_requests/{self.session}/void", "Ordered twice"), *[Collect(self.session)] * 4]
        return self.random.choice([pay, pay, pay, GiveUp(self.session), *ends])

    def _fault(self) -> Fault:
        chance = self.random.random()
        if chance < 0.1:
            return None
        if chance < 0.25:
            return Stall(self.random.choice(STALL), self.random.choice([1, 1, 2]))
        kill = Kill(self.random.choice(STEPS), self.random.choice([1, 1, 2]))
        return self.random.choice(list(Cut)) if chance < 0.5 else kill

    def _find_out(self) -> None:
        """Let the payer's hour pass, after which nothing is open."""
        for seconds in (*ROUNDS_SECONDS, ACTION_SECONDS, *ROUNDS_SECONDS):
            for charge in self._charges():
                let_pass(charge.source_id, seconds)
            let_pass_for_check(row_id(self.session), seconds)
            recover()

    def _charges(self) -> list[Charge]:
        return list(Charge.objects.filter(checkout_id=row_id(self.session)).order_by("id"))

    def _faults(self) -> Iterator[tuple[str, str]]:
        row = Checkout.objects.get(id=row_id(self.session))
        charges = self._charges()
        standing = [charge.status for charge in charges if charge.status != Charge.Status.FAILED]
        yield from self._wrong_state(row, standing)
        if (taken := self._taken(charges)) > row.amount:
            yield "double", f"{taken} was taken for a session of {row.amount}"
        if any(not_found_out(charge.source_id) for charge in charges):
            yield "unresolved", "an outcome is not found out"
        for charge in charges:
            yield from (("books", line) for line in differences(charge.source_id))
        yield from self._wrong_tries(row, charges)
        events = Event.objects.filter(object_id=row.id).order_by("sequence").values_list("sequence", flat=True)
        if list(events) != list(range(1, row.version + 1)) and row.kind != Checkout.Kind.LINK:
            yield "lost", f"the session has events {list(events)} and is at {row.version}"

    @staticmethod
    def _wrong_state(row: Checkout, standing: list[str]) -> Iterator[tuple[str, str]]:
        keeps = row.mode in (Checkout.Mode.SAVE_CARD, Checkout.Mode.SUBSCRIPTION)
        kept = Source.objects.filter(customer_id=row.customer_id, vaulted=True).count() if keeps else 0
        if kept != (keeps and row.state == State.PAID):
            yield "double", f"a session that is {row.state} has kept {kept} cards"
        if row.mode == Checkout.Mode.SAVE_CARD:
            if row.state == State.PAYING:
                yield "unresolved", "the check of a card is not found out"
        elif standing not in CHARGED[State(row.state)]:
            yield "double", f"a session that is {row.state} has charges {standing}"

    def _wrong_tries(self, row: Checkout, charges: list[Charge]) -> Iterator[tuple[str, str]]:
        tries = sum(charge.initiator == Charge.Initiator.MERCHANT for charge in charges)
        if self.tries_at_end not in (None, tries):
            yield "double", f"a request that ended after {self.tries_at_end} tries has {tries}"
        if row.kind == Checkout.Kind.REQUEST and row.request.collect_ended:
            self.tries_at_end = tries
        if row.kind == Checkout.Kind.REQUEST and (tries != row.request.collect_tries):
            yield "double", f"a request that counts {row.request.collect_tries} tries has {tries}"
        if row.kind == Checkout.Kind.REQUEST and row.request.is_trying:
            yield "unresolved", "a try is not found out"

    @staticmethod
    def _taken(charges: list[Charge]) -> int:
        """Return what the provider has of the payer's money, by its own books."""
        references = [attempt.reference for charge in charges for attempt in charge.attempts.all()]
        kept = SimulatedPayment.objects.filter(reference__in=references)
        entries = Entry.objects.filter(payment__in=kept).values_list("kind", "amount")
        back = (Entry.Kind.VOID, Entry.Kind.REFUND)
        return sum(amount for kind, amount in entries if kind == Entry.Kind.CAPTURE) - sum(
            amount for kind, amount in entries if kind in back
        )
