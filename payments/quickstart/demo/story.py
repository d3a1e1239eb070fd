"""One charge from its source to its end, told in memory by what the verbs would write."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from payments import clock, sourcetypes
from payments.api.answers import source_answer
from payments.domain import events, idempotency
from payments.domain.caller import Caller
from payments.domain.cards.card_data import describe, sealed_card
from payments.domain.charging import (
    attempts,
    changes,
    charges,
    late_outcomes,
    operations,
    outcome_rules,
    record_outcome,
)
from payments.domain.charging.charges import ChargeOrder
from payments.domain.charging.operations import Plan
from payments.domain.idempotency import StoredAnswer
from payments.domain.routing import candidates
from payments.domain.schedule import next_lookup_at, next_second_look_at
from payments.ids import public_id
from payments.ledger import journals
from payments.models import Attempt, Charge, IdempotencyRecord, Posting, Source
from payments.models.attempt import SECOND_LOOKS
from payments.providers.base import NotFound, Outcome, Payment, Unknown
from payments.providers.simulator.answers import operation_outcome
from payments.providers.simulator.models import SimulatedOperation
from payments.providers.simulator.scenarios import Lost, scenario_of
from payments.quickstart.demo.rows import Rows, change
from payments.quickstart.demo.shop import Shop
from payments.quickstart.demo.simulated import Book

SIMULATOR = candidates.simulator_route()
# How long after midnight the worker comes to settle, and how long it keeps answers for requests that come again.
SETTLING_TAKES = timedelta(minutes=2)
ANSWERS_KEPT = timedelta(days=30)
# Test cards are few, and each is asked for very often.
facts_of = cache(describe)


class PresentReached(Exception):
    """What is told next has not happened yet."""


@dataclass(frozen=True)
class Purchase:
    """What is charged; `number` is the shop's own of its order."""

    number: int
    amount: int
    currency: str
    description: str


class Story:
    """Tells a charge of `shop` from `moment` on, and nothing that comes after `present`; all rows go to `rows`.

    An act takes some milliseconds; `wait` lets more time pass.
    """

    charge: Charge
    attempt: Attempt
    payment: Payment
    book: Book
    source: Source

    def __init__(self, shop: Shop, purchase: Purchase, moment: datetime, present: datetime) -> None:
        self.shop, self.purchase, self.moment, self.present = shop, purchase, moment, present
        self.rows = Rows()

    def wait(self, **duration: float) -> None:
        """Lets time pass, and what is due meanwhile be settled. Raises PresentReached."""
        self.wait_until(self.moment + timedelta(**duration))

    def wait_until(self, moment: datetime) -> None:
        """As `wait`, until `moment` if that is still to come."""
        end = min(moment, self.present)
        while (due := self._settles_at()) and due <= end:
            self._settle(due)
        self.moment = max(self.moment, end)
        if moment > self.present:
            raise PresentReached

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Inside, it is the story's moment; afterwards the story is where that has come to."""
        with clock.at(self.moment):
            yield
            self.moment = clock.now()

    def wrap(self, source_type: str, card: dict[str, str] | None = None) -> None:
        """The payer's card, wallet or bank account becomes a source."""
        with self.telling():
            self.source = self._new_source(source_type)
            self.rows.add(self.source)
            if card:
                self.rows.add(sealed_card(self.source, card, facts_of(card["number"])))
            else:
                Source.card.related.set_cached_value(self.source, None)
            caller = self.shop.caller(self._key("source"))
            self.rows.take([events.of_source(caller, "source.created", self.source)])
            self._claim(caller, source_answer(self.source))

    def take(self, *, hold: bool = False) -> None:
        """The source is charged, or an amount held on it."""
        with self.telling():
            caller = self.shop.caller(self._key("charge"))
            order = ChargeOrder(capture=not hold, **self._order())
            self.attempt, writes = charges.build_opening(caller, order, self.source, SIMULATOR, self._claim(caller))
            self.charge = self.attempt.charge
            self.rows.take(writes, self.source)
            self.record(caller, self._ask())

    def pay(self, *, with_pin: bool = False) -> None:
        """The payer agrees: on the simulator's page and comes back, or by a one-time PIN that we are given."""
        with self.telling():
            if not with_pin:
                self.book.approve()
                self._come_back(Caller.service(self.charge))
                return
            self.book.take_pin()
            self._come_back(self.shop.caller(self._key("verify")))

    def refuse(self, code: str) -> None:
        """The payer refuses on the simulator's page, and comes back."""
        with self.telling():
            self.book.decline(code)
            self._come_back(Caller.service(self.charge))

    def expire(self) -> None:
        """The payer let the time pass, of which the simulator tells."""
        with self.telling():
            self.book.decline("action_expired")
            self.record(Caller.service(self.charge), self.book.outcome)

    def look_up(self, outcome: Outcome) -> None:
        """The worker asks what became of the attempt in hand, and hears `outcome`."""
        with self.telling():
            tries = self.attempt.tries + 1
            change(self.attempt, {"tries": tries, "due_at": next_lookup_at(clock.now(), tries)})
            self.record(Caller.service(self.charge), outcome)

    def look_up_in_vain(self, outcome: Outcome) -> None:
        """The worker hears `outcome` whenever a lookup is due, until the present. Raises PresentReached."""
        while self.attempt.due_at:
            self.wait_until(self.attempt.due_at)
            self.look_up(outcome)

    def arrive(self) -> None:
        """The request for the payment, which seemed to be lost, comes to the provider after all."""
        with self.telling():
            self.book = Book(self.payment, self.rows)

    def take_second_look(self, outcome: Outcome) -> None:
        """The worker looks up once more what was given up, and hears `outcome`; what that contradicts is moved.

        Where the money is to go back, the attempt in hand is then the one that sends it. Raises PresentReached.
        """
        assert self.attempt.due_at  # nosec B101 # for the type checker
        self.wait_until(self.attempt.due_at)
        with self.telling():
            tries = self.attempt.tries + 1
            is_last = isinstance(outcome, NotFound) and tries >= SECOND_LOOKS
            change(
                self.attempt, {"tries": tries, "due_at": None if is_last else next_second_look_at(clock.now(), tries)}
            )
            self.rows.take(late_outcomes.late_writes(self.attempt, outcome), self.attempt, self.charge)
            self.attempt = self.rows.of(Attempt)[-1]

    def send_back(self) -> None:
        """The worker sends money back that came late."""
        with self.telling():
            operation = self.book.operate(self.attempt, ends_after=timedelta())
        self.look_up(operation_outcome(operation))

    def capture(self, amount: int | None = None) -> None:
        """The merchant takes `amount` of what is held, or all."""
        with self.telling():
            self._operate(self.shop.caller(self._key("capture")), operations.plan_capture(self.charge, amount))

    def void(self) -> None:
        """The merchant releases what is held, or gives back what was captured."""
        with self.telling():
            self._operate(self.shop.caller(self._key("void")), operations.plan_void(self.charge))

    def release(self) -> None:
        """The worker releases a hold whose days are over."""
        with self.telling():
            self._operate(Caller.service(self.charge), operations.plan_release(self.charge))

    def refund(self, amount: int | None = None, ends_after: timedelta = timedelta(hours=1)) -> SimulatedOperation:
        """The merchant gives `amount` back, or what is left; one that ends later does so after `ends_after`."""
        with self.telling():
            caller = self.shop.caller(self._key(f"refund-{len(self.charge.refund_list) + 1}"))
            plan = operations.plan_refund(self.charge, amount, "requested_by_customer")
            return self._operate(caller, plan, ends_after)

    def operate(self, caller: Caller, plan: Plan) -> None:
        """Somebody else than the merchant has done what `plan` says."""
        with self.telling():
            self._operate(caller, plan)

    def end_refund(self, operation: SimulatedOperation) -> None:
        """The refund in hand comes to the end that its card is known for, of which the simulator tells."""
        with self.telling():
            outcome = self.book.end(operation)
            if self.attempt.state != Attempt.State.DONE:
                self.record(Caller.service(self.charge), outcome)
            else:
                writes = late_outcomes.late_writes(self.attempt, outcome)
                self.rows.take(writes, self.attempt, self.charge, *self._refund_in_hand())

    def record(self, caller: Caller, outcome: Outcome) -> None:
        """What the attempt in hand came to is recorded, for whoever asked."""
        result = outcome_rules.apply_outcome(self.attempt, outcome, clock.now())
        _, writes = record_outcome.build_writes(caller, self.attempt, result, outcome)
        in_hand = [self.attempt, self.charge, *self._refund_in_hand()]
        in_hand += [row for row in (getattr(self.source, "card", None), self.attempt.idempotency) if row]
        self.rows.take(writes, *in_hand)

    def _key(self, verb: str) -> str:
        return f"order-{self.purchase.number}-{verb}"

    def _new_source(self, source_type: str) -> Source:
        site = f"https://{self.shop.merchant.statement_descriptor.lower().replace(' ', '-')}.example"
        redirect = {"success": f"{site}/paid", "fail": f"{site}/failed"}
        notify = {"notify": self.shop.notify_url} if self.shop.notify_url else {}
        return Source(
            merchant=self.shop.merchant,
            livemode=False,
            type=source_type,
            redirect=redirect | notify,
            created_at=(moment := clock.now()),
            updated_at=moment,
        )

    def _order(self) -> dict[str, Any]:
        return {
            "amount": self.purchase.amount,
            "currency": self.purchase.currency,
            "source": public_id("src", self.source.id),
            "description": self.purchase.description,
        }

    def _claim(self, caller: Caller, answer: StoredAnswer | None = None) -> IdempotencyRecord | None:
        """The record of the caller's key, unless it would be purged by now."""
        record = idempotency.new_record(caller, answer)
        if record is None or self.moment < self.present - ANSWERS_KEPT:
            return None
        self.rows.add(record)
        return record

    def _ask(self) -> Outcome:
        self.payment = attempts.payment_of(self.attempt)
        lost = scenario_of(self.payment.card).lost if self.payment.source_type == sourcetypes.CARD else None
        if lost is not Lost.REQUEST:
            self.book = Book(self.payment, self.rows)
        return Unknown(f"the {lost} was lost") if lost else self.book.outcome

    def _come_back(self, caller: Caller) -> None:
        record = self._claim(caller)
        change(self.attempt, charges.reopened_values(caller, self.attempt, record))
        self.attempt.idempotency = record
        self.record(caller, self.book.outcome)

    def _operate(self, caller: Caller, plan: Plan, ends_after: timedelta = timedelta()) -> SimulatedOperation:
        self.attempt, writes = operations.build_opening(caller, self.charge, plan, SIMULATOR, self._claim(caller))
        self.rows.take(writes, self.charge)
        changes.apply(self.charge, plan.changes)
        operation = self.book.operate(self.attempt, ends_after)
        self.record(caller, operation_outcome(operation))
        return operation

    def _refund_in_hand(self) -> list[Any]:
        return [self.attempt.refund] if self.attempt.refund else []

    def _settles_at(self) -> datetime | None:
        due = self.charge.settle_due_at if hasattr(self, "charge") else None
        return due + SETTLING_TAKES if due else None

    def _settle(self, moment: datetime) -> None:
        with clock.at(moment):
            standing = Counter[str]()
            for posting in self.rows.of(Posting):
                standing[posting.account] += posting.amount
            unsettled = {name: amount for name in journals.SETTLES_TO if (amount := standing[name])}
            if unsettled:
                settlement = self.shop.settlement(self.charge.currency, moment.date(), self.rows)
                self.rows.add(*journals.settled(self.charge, settlement, unsettled, moment))
            change(self.charge, {"settle_due_at": None, "settled_at": self.charge.settled_at or moment})
