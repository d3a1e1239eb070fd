"""Histories of checkouts: payers, banks, the shop, the provider and time act in any order, by a seed.

After each act the model's own rules (`checkout_rules.py`) and all invariants of the money hold. What two acts do at
once is left to the races; what dies meanwhile, to `tests/faults/checkouts.py`.
"""

import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from random import Random
from typing import Any

from django.db.models import Q
from django.test import Client

from payments import clock
from payments.domain.charging import recovery
from payments.domain.checkout import card_checks, links, sessions
from payments.domain.merchants.merchants import NewMerchant, create_merchant
from payments.ids import parse_id, public_id
from payments.models import Attempt, Charge, Checkout, Merchant
from payments.providers.base import Approved, NotFound
from payments.providers.references import check_reference
from payments.providers.simulator.answers import page_token
from payments.providers.simulator.books import approve
from payments.providers.simulator.models import Message, SimulatedPayment
from tests.charging.doubles import Double, KnowsNothing, LosesAnswers, NeverHears, provider
from tests.charging.elapsed_time import arrive_late
from tests.checkout import shelf
from tests.checkout.cast import SAVE_CARD, SETUP, SUBSCRIPTION, billed, collected, customer, opened
from tests.client import ANSWER_LOST, APPROVED, CHALLENGED, DECLINED, HANDLER, NEVER_ARRIVES, STOLEN, Api, error_of
from tests.faults.elapsed_time import let_pass_for_check
from tests.machine.checkout_money import MONEY, Act
from tests.machine.checkout_rules import LoggedErrors, Seen, differences, end_differences, see
from tests.machine.checkout_tries import TRIES
from tests.machine.sweeps import Time
from tests.pages.checkout_page import CARD
from tests.pages.waiting_charges import path_of

CARDS = (APPROVED, CHALLENGED, CHALLENGED, DECLINED, ANSWER_LOST, NEVER_ARRIVES, NEVER_ARRIVES)
MODES: Mapping[str, Mapping[str, Any]] = {
    "payment": {},
    "setup": SETUP,
    "subscription": SUBSCRIPTION,
    "save_card": SAVE_CARD,
}
KINDS = (*MODES, "request", "collected", "link")
FEWEST_ACTS, MOST_ACTS = 6, 12
OFTEN = 6
MOST_SALES = 2
AN_HOUR_SECONDS = 3660
# A payer's page shows a form, leads elsewhere, is over, or refuses; it never breaks.
ANSWERS = {200, 303, 409, 410, 422, 503}
State = Checkout.State
# How a session and a request answer whose shop ends them; the others have ended.
REFUSALS = {State.PAYING: ("session_busy", "request_busy"), State.UNPAID: (None, None)}
ENDED = ("session_not_expirable", "request_not_voidable")


class Wrong(AssertionError):
    """The history that shows what is wrong, act by act."""


@dataclass
class Sale:
    """A checkout that payers pay on its page, and the link of which it was opened, if any."""

    name: str
    link: dict[str, Any] | None = None
    form: dict[str, str] = field(default_factory=dict)

    @property
    def row(self) -> Checkout:
        return Checkout.objects.get(id=self.id)

    @property
    def id(self) -> Any:
        return parse_id(self.name.partition("_")[0], self.name)

    @property
    def path(self) -> str:
        return f"/{'requests' if self.name.startswith('pr_') else 'checkout'}/{self.name}"

    def attempts(self) -> list[Attempt]:
        rows = Attempt.objects.select_related("charge__source").filter(charge__checkout_id=self.id, kind="authorize")
        return list(rows.order_by("id"))

    def pages(self) -> list[SimulatedPayment]:
        """Return what was booked for this checkout at the provider, each of which has a payer's page."""
        references = [attempt.reference for attempt in self.attempts()]
        if source_id := self.row.check_source_id:
            references.append(check_reference(source_id))
        return list(SimulatedPayment.objects.filter(reference__in=references).order_by("id"))


class CheckoutHistory:
    """A shop of its own, its sales, and what was done."""

    def __init__(self, shop: NewMerchant, random: Random) -> None:
        self.random, self.api, self.time = random, Api(shop.keys["sk_test"]), Time(shop.merchant)
        self.browser = Client()
        self.browser.handler = HANDLER
        self.done: list[str] = []
        self.sales: list[Sale] = []
        self.seen: list[Seen] = []
        self.logged = LoggedErrors()

    def run(self) -> None:
        """Draw a history and run it. Raise Wrong where something is, after the act that shows it."""
        logger = logging.getLogger("kaha")
        logger.addHandler(self.logged)
        try:
            self._run()
        finally:
            logger.removeHandler(self.logged)

    def _run(self) -> None:
        for _ in range(self.random.randint(1, MOST_SALES)):
            self._do("open", self.open_sale)
        for _ in range(self.random.randint(FEWEST_ACTS, MOST_ACTS)):
            number = self.random.randrange(len(self.sales))
            row = self.seen[number].row
            # Where an attempt has failed before, its money may still come.
            likely = (*LIKELY[State(row.state)], *[late_money] * OFTEN * (row.attempts > 1))
            act = self.random.choice(ACTS if self.seldom() else likely)
            name = f"{act.__name__} {number} {row.kind} {row.mode} {row.state}"
            self._do(name, partial(act, self, self.sales[number]))
        self._do("find_everything_out", self.find_everything_out)
        self._raise(end_differences(self.seen))

    def _do(self, name: str, act: Callable[[], object]) -> None:
        self.done.append(name)
        try:
            act()
        except Exception as error:
            raise Wrong("\n".join([*self.done, repr(error)])) from error
        before, self.seen = self.seen, see([sale.id for sale in self.sales])
        self._raise([*self.logged.lines, *differences(before, self.seen)])

    def _raise(self, found: list[str]) -> None:
        if found:
            raise Wrong("\n".join([*self.done, *found]))

    def note(self, *words: object) -> None:
        """Add what an act has drawn to what is shown of it."""
        self.done[-1] += f" {' '.join(map(str, words))}"

    def seldom(self) -> bool:
        return self.random.random() < 0.3

    def open_sale(self) -> None:
        kind = self.random.choice(KINDS)
        self.note(kind)
        if kind == "link":
            items = [{"name": "Halo-halo", "amount": 12_500, "quantity": 2}]
            link = shelf.linked(self.api, line_items=items)
            self.sales += [Sale(public_id("cs", shelf.open_payment(link, 1).id), link) for _ in range(2)]
        elif kind == "collected":
            number = self.random.choice((APPROVED, APPROVED, DECLINED, STOLEN, NEVER_ARRIVES))
            self.sales.append(Sale(collected(self.api, number)["id"]))
        elif kind == "request":
            self.sales.append(Sale(billed(self.api)["id"]))
        else:
            known = {"customer": customer(self.api)} if kind in ("subscription", "save_card") else {}
            self.sales.append(Sale(opened(self.api, **MODES[kind], **known)["id"]))

    def post(self, sale: Sale, form: dict[str, str]) -> None:
        answer = self.browser.post(sale.path, form)
        self.note(answer.status_code)
        assert answer.status_code in ANSWERS, answer.status_code

    def unreliable(self) -> AbstractContextManager[None]:
        """Return the provider as it is, or one that loses answers, or what is asked."""
        double = self.random.choice([None, None, LosesAnswers, NeverHears])
        self.note(double.__name__ if double else "")
        return provider(double()) if double else nullcontext()

    def cancelling(self) -> AbstractContextManager[None]:
        """Return the provider as it is, or one that only receives a cancel: its page stays open."""
        is_only_received = self.random.random() < 0.5
        self.note("received" if is_only_received else "cancelled")
        return provider(Double(cancel=Approved("received"))) if is_only_received else nullcontext()

    def charge(self, sale: Sale) -> Charge | None:
        """Return the newest charge of a checkout, or of the card that it kept."""
        kept = Q(source__customer_id=sale.row.customer_id, source__customer_id__isnull=False)
        return Charge.objects.filter(Q(checkout_id=sale.id) | kept).order_by("-id").first()

    def operate(self, sale: Sale, verb: str, body: Any = None) -> None:
        if charge := self.charge(sale):
            self.ask(f"/charges/{charge}/{verb}", body)

    def ask(self, path: str, body: Any) -> None:
        with self.unreliable():
            answer = self.api.post(path, body)
        self.note(answer.status_code)
        assert answer.status_code in (200, 201, 404, 409, 422, 503), answer.content

    def find_everything_out(self) -> None:
        """Let all hours pass and all reports come, after which nothing is under way."""
        for _ in range(2):
            for sale in self.sales:
                end_action(sale, self.time)
            self.time.end_refunds()
            # What was reported while an operation was under way comes again.
            Message.objects.filter(delivered_at=None).update(due_at=clock.now())
            self.time.receive_reports()
            check_due()
            self.time.look_up()
            self.time.send_responses()
        Message.objects.filter(delivered_at=None).update(due_at=clock.now())
        self.time.receive_reports()


def end_action(sale: Sale, time: Time) -> None:
    """Let the hour of the payer pass who is at a bank."""
    let_pass_for_check(sale.id, AN_HOUR_SECONDS)
    card_checks.resolve_due()
    for charge in Charge.objects.filter(checkout_id=sale.id, status="pending"):
        time.end_action(str(charge))


def check_due() -> None:
    """Look the checks of cards up."""
    Checkout.objects.filter(check_due_at__isnull=False).update(check_due_at=clock.now())
    card_checks.resolve_due()


def pay_by_card(history: CheckoutHistory, sale: Sale) -> None:
    number = history.random.choice(CARDS)
    history.note(number)
    # A form of an earlier page may be sent too.
    attempt = sale.row.attempts - history.seldom() * history.seldom()
    sale.form = {**CARD, "number": number, "attempt": str(attempt), "email": "maria@example.com"}
    history.post(sale, sale.form)


def pay_by_wallet(history: CheckoutHistory, sale: Sale) -> None:
    history.post(sale, {"way": "gcash", "attempt": str(sale.row.attempts), "email": "maria@example.com"})


def send_again(history: CheckoutHistory, sale: Sale) -> None:
    if sale.form:
        history.post(sale, sale.form)


def look_at_page(history: CheckoutHistory, sale: Sale) -> None:
    answer = history.browser.get(sale.path)
    assert answer.status_code in ANSWERS, answer.status_code


def decide(history: CheckoutHistory, sale: Sale) -> None:
    """Decide on a page of the bank, be it of an attempt that was given up; mostly come back then."""
    if pages := sale.pages():
        page, decision = history.random.choice(pages), history.random.choice(["pay", "pay", "fail", "cancel"])
        history.note(pages.index(page), decision)
        history.browser.post(f"/simulator/pay/{page_token(page.reference)}", {"decision": decision})
        if not history.seldom():
            history.note("and comes back")
            history.browser.get(path_of(page.return_url))


def come_back(history: CheckoutHistory, sale: Sale) -> None:
    if pages := sale.pages():
        answer = history.browser.get(path_of(history.random.choice(pages).return_url))
        assert answer.status_code in ANSWERS, answer.status_code


def give_up(history: CheckoutHistory, sale: Sale) -> None:
    with history.cancelling():
        history.post(sale, {"otherwise": f"{sale.row.attempts}"})


def late_money(history: CheckoutHistory, sale: Sale) -> None:
    """Have money come that was lost on its way, or be paid on a page that stayed open; it may be reported twice."""
    booked = {page.reference: page for page in sale.pages()}
    payable = [attempt for attempt in sale.attempts() if _may_come(attempt, booked.get(attempt.reference))]
    if payable:
        attempt = history.random.choice(payable)
        history.note(attempt.charge.status)
        if page := booked.get(attempt.reference):
            approve(page, send_message=True)
            history.time.receive_reports()
        else:
            event = arrive_late(attempt)
            for _ in range(1 + history.seldom()):
                recovery.apply_event(event)


def _may_come(attempt: Attempt, page: SimulatedPayment | None) -> bool:
    """Return whether an attempt was lost on its way, or has failed while its page is still open."""
    if page is None:
        return attempt.charge.source.type == "card"
    return page.state == SimulatedPayment.State.AWAITING and attempt.charge.status == Charge.Status.FAILED


def look_up(history: CheckoutHistory, sale: Sale) -> None:
    """Have the worker look everything up: at the provider as it is, that does not answer, or that finds nothing."""
    double = history.random.choice([None, None, KnowsNothing(), Double(resolve=NotFound())])
    history.note("" if double is None else "in vain")
    with provider(double) if double else nullcontext():
        check_due()
        history.time.look_up()


def receive_reports(history: CheckoutHistory, sale: Sale) -> None:
    """Receive the provider's messages, some of them again, in any order."""
    messages = list(Message.objects.order_by("id"))
    history.random.shuffle(messages)
    for number, message in enumerate(messages):
        if message.delivered_at is None or history.seldom():
            due_at = clock.now() - timedelta(seconds=len(messages) - number)
            Message.objects.filter(id=message.id).update(delivered_at=None, due_at=due_at)
    history.time.receive_reports()


def end_hour(history: CheckoutHistory, sale: Sale) -> None:
    with history.cancelling():
        end_action(sale, history.time)


def end_page(history: CheckoutHistory, sale: Sale) -> None:
    """Let the provider's hour end before ours."""
    references = [page.reference for page in sale.pages()]
    late = clock.now() - timedelta(seconds=1)
    SimulatedPayment.objects.filter(reference__in=references, state="awaiting").update(expires_at=late)


def end_time(history: CheckoutHistory, sale: Sale) -> None:
    """Let the time of a checkout be over; the sweeps run for all."""
    late = clock.now() - timedelta(seconds=1)
    Checkout.objects.filter(id=sale.id, expires_at__isnull=False).update(expires_at=late)
    sessions.expire_due()
    links.close_due()


def end_by_shop(history: CheckoutHistory, sale: Sale) -> None:
    """Expire a session, void a request, deactivate or activate a link; while a payer pays, the shop is refused."""
    row = sale.row
    if sale.link:
        verb = history.random.choice(["activate", "deactivate"])
        history.api.post(f"/payment_links/{sale.link['id']}/{verb}")
        return
    is_request = row.kind == Checkout.Kind.REQUEST
    path = "payment_requests" if is_request else "checkout_sessions"
    answer = history.api.post(
        f"/{path}/{sale.name}/{'void' if is_request else 'expire'}", {"reason": "x"} if is_request else None
    )
    expected = REFUSALS.get(State(row.state), ENDED)[is_request]
    code = None if answer.status_code == 200 else error_of(answer)["code"]
    assert code == expected, f"{code} where {expected} is right"


OVER: tuple[Act, ...] = (*MONEY, *TRIES, late_money, receive_reports, look_up)
PAY: tuple[Act, ...] = (*TRIES, pay_by_card, pay_by_card, pay_by_card, pay_by_wallet, pay_by_wallet)
LEAVE: tuple[Act, ...] = (give_up, give_up, end_hour, end_page, look_up, look_up, late_money, receive_reports)
ACTS: tuple[Act, ...] = (*PAY, *LEAVE, *OVER, send_again, look_at_page, decide, come_back, end_time, end_by_shop)
# What is done most to a checkout in each state.
LIKELY: Mapping[State, tuple[Act, ...]] = {
    State.UNPAID: PAY,
    State.PAYING: (*LEAVE, *TRIES, decide, decide, late_money, end_by_shop, end_time),
    **dict.fromkeys((State.AUTHORIZED, State.PAID, State.VOIDED, State.EXPIRED), OVER),
}


def run_history(random: Random) -> None:
    """Run the history that follows from `random`, of a shop of its own. Raise Wrong."""
    shop = create_merchant("Sari Store")
    Merchant.objects.filter(id=shop.merchant.id).update(send_receipts=True)
    CheckoutHistory(shop, random).run()
