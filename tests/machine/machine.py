"""Histories of a merchant, its payers, the provider and time, each step compared with the model."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from payments.models import AMOUNT_MAX
from tests.charging.doubles import KnowsNothing, LosesAnswers, NeverHears, provider
from tests.client import CARD_FIELDS, error_of, made
from tests.machine import model
from tests.machine.behaviours import APPROVED, DECLINED, ORDINARY, PIN, RIGHT_PIN, WRONG_PIN, Behaviour
from tests.machine.comparison import check_charge, check_customer, check_refused, check_source, expected
from tests.machine.customers import Customer
from tests.machine.history import History, Posted, one_of
from tests.machine.model import LOST, UNSENT, Charge, Source

# How much likelier it is that a step can be done than that it must be refused.
OFTEN = 4
MOST_CHARGES, MOST_SOURCES, MOST_CUSTOMERS = 8, 12, 3
DOUBLES = {LOST: LosesAnswers, UNSENT: NeverHears}

behaviours = st.sampled_from(ORDINARY) | st.sampled_from(ORDINARY + DECLINED)
amounts = st.integers(1, AMOUNT_MAX) | st.integers(1, 20)
# None asks for all there is; above 100 is too much.
percents = st.none() | st.integers(1, 130)
fates = st.sampled_from(["", "", "", LOST])
pins = st.sampled_from([RIGHT_PIN, WRONG_PIN])
decisions = st.sampled_from(["pay", "pay", "fail", "cancel"])

has_charges = precondition(lambda history: history.charges)
has_asking = precondition(lambda history: history.asking())
has_customers = precondition(lambda history: history.customers and history.sources)


def charges_like(fits: Callable[[Charge], bool]) -> st.SearchStrategy[Charge]:
    """Any charge, but mostly one that fits."""
    return one_of(lambda history: history.charges + OFTEN * [each for each in history.charges if fits(each)])


held = charges_like(lambda charge: charge.stage == "held")
taken = charges_like(lambda charge: charge.stage == "captured")
voidable = charges_like(lambda charge: charge.stage in ("held", "captured") and not charge.is_settled)
awaiting = one_of(lambda history: history.asking() + OFTEN * [each for each in history.asking() if each.awaits_payer])
asking_pin = one_of(
    lambda history: history.asking() + OFTEN * [each for each in history.asking() if each.action == PIN]
)
customers = one_of(
    lambda history: history.customers + OFTEN * [each for each in history.customers if not each.is_deleted]
)
unused = one_of(lambda history: history.sources + OFTEN * [each for each in history.sources if not each.used])
chargeable = one_of(
    lambda history: history.sources + OFTEN * [each for each in history.sources if each.vaulted or not each.used]
)
vaulted = one_of(lambda history: history.sources + OFTEN * [each for each in history.sources if each.vaulted])


def with_fate(fate: str) -> Any:
    """Return the provider as it is, or one that loses answers or requests."""
    return provider(DOUBLES[fate]()) if fate else nullcontext()


def share(whole: int, percent: int | None) -> dict[str, int]:
    """Return the body that asks for `percent` of `whole`."""
    return {} if percent is None else {"amount": min(AMOUNT_MAX, max(1, whole * percent // 100))}


def query_value(charge: Charge, member: str) -> str:
    """Return the filters of a list that find charges like this one."""
    value = expected(charge)[member]
    return str(value).lower() if isinstance(value, bool) else charge.source.name if member == "source" else value


class Merchant(History):
    """What a merchant's program does with its charges."""

    @initialize(given=st.lists(st.tuples(behaviours, amounts, st.booleans(), st.booleans()), min_size=2, max_size=4))
    def begin(self, given: list[tuple[Behaviour, int, bool, bool]]) -> None:
        for behaviour, amount, capture, require_auth in given:
            self.create_source_and_charge(behaviour, amount, capture, require_auth)

    @precondition(lambda history: len(history.sources) < MOST_SOURCES)
    @rule(behaviour=behaviours)
    def create_source(self, behaviour: Behaviour) -> None:
        card = {"card": {**CARD_FIELDS, "number": behaviour.number}} if behaviour.number else {}
        answer = made(self.post("/sources/", {"type": behaviour.type, **card}))
        self.sources.append(Source(answer["id"], behaviour))
        check_source(answer, self.sources[-1])

    @precondition(lambda history: len(history.charges) < MOST_CHARGES)
    @rule(behaviour=behaviours, amount=amounts, capture=st.booleans(), require_auth=st.booleans())
    def create_source_and_charge(self, behaviour: Behaviour, amount: int, capture: bool, require_auth: bool) -> None:
        self.create_source(behaviour)
        self.create_charge(self.sources[-1], amount, capture or not behaviour.can_be_held, require_auth)

    @precondition(lambda history: history.sources and len(history.charges) < MOST_CHARGES)
    @rule(source=chargeable, amount=amounts, capture=st.booleans(), require_auth=st.booleans(), by_payer=st.booleans())
    def create_charge(
        self, source: Source, amount: int, capture: bool, require_auth: bool, by_payer: bool = False
    ) -> None:
        order = {"amount": amount, "source": source.name, "description": "Halo-halo"}
        order |= {"initiator": "customer"} if source.vaulted and by_payer else {}
        response = self.post("/charges/", order | {"capture": capture, "require_auth": require_auth})
        charge = model.charge(source, amount, capture, require_auth, by_payer)
        if isinstance(charge, str):
            check_refused(response, charge)
            return
        answer = made(response)
        assert response.status_code == 201
        charge.name, charge.page = answer["id"], answer.get("action", {}).get("url", "")
        self.charges.append(charge)
        check_charge(answer, charge)

    @has_charges
    @rule(charge=held, percent=percents, fate=fates | st.just(UNSENT))
    def capture(self, charge: Charge, percent: int | None, fate: str) -> None:
        body = share(charge.amount, percent)
        with with_fate(fate):
            response = self.post(f"/charges/{charge.name}/capture", body)
        self.answers(charge, response, charge.capture(body.get("amount"), fate))

    @has_charges
    @rule(charge=voidable, fate=fates)
    def void(self, charge: Charge, fate: str) -> None:
        with with_fate(fate):
            response = self.post(f"/charges/{charge.name}/void")
        self.answers(charge, response, charge.void(fate))

    @has_charges
    @rule(charge=taken, percent=percents, fate=fates | st.just(UNSENT))
    def refund(self, charge: Charge, percent: int | None, fate: str) -> None:
        body = share(charge.amount_captured, percent)
        with with_fate(fate):
            response = self.post(f"/charges/{charge.name}/refund", body)
        self.answers(charge, response, charge.refund(body.get("amount"), fate))

    @has_asking
    @rule(charge=asking_pin, pin=pins)
    def verify(self, charge: Charge, pin: str) -> None:
        confirmation = made(self.api.get(f"/charges/{charge.name}")).get("action", {}).get("confirmation_id", "none.")
        response = self.post(f"/charges/{charge.name}/verify", {"confirmation_id": confirmation, "otp": pin})
        self.answers(charge, response, charge.verify(pin))

    @precondition(lambda history: history.posted)
    @rule(posted=one_of(lambda history: history.posted))
    def repeat(self, posted: Posted) -> None:
        response = self.api.post(posted.path, posted.body, key=posted.key)
        assert (response.status_code, response.content) == (posted.status, posted.answer)
        assert response["Idempotent-Replayed"] == "true"

    @precondition(lambda history: history.posted)
    @rule(posted=one_of(lambda history: history.posted), elsewhere=st.booleans())
    def use_a_key_again(self, posted: Posted, elsewhere: bool) -> None:
        path = "/customers/" if elsewhere else posted.path
        response = self.api.post(path, {"another": "body"}, key=posted.key)
        assert (response.status_code, error_of(response)["code"]) == (409, "idempotency_key_reused")


class Payer(Merchant):
    """What payers do at the provider's page."""

    @has_asking
    @rule(charge=awaiting, decision=decisions, pin=pins, comes_back=st.booleans())
    def act(self, charge: Charge, decision: str, pin: str, comes_back: bool) -> None:
        path = "/" + charge.page.split("/", 3)[3]
        form = {"pin": pin, "tries": charge.wrong_pins} if decision == "pay" else {}
        response = self.api.client.post(path, {"decision": decision, **form})
        assert response.status_code in (303, 410)
        if decision == "pay" and charge.source.behaviour.asks == PIN:
            charge.enter_pin(pin)
        else:
            charge.decide({"pay": APPROVED, "fail": "authentication_failed", "cancel": "payer_cancelled"}[decision])
        if comes_back:
            self.come_back(charge)

    @has_asking
    @rule(charge=awaiting)
    def come_back(self, charge: Charge) -> None:
        assert self.api.client.get(self.time.return_path(charge.name)).status_code == 200
        charge.receive_reports()


class Clock(Payer):
    """Let the provider report, and let time pass."""

    @precondition(lambda history: any(charge.has_reports for charge in history.charges))
    @rule()
    def receive_reports(self) -> None:
        self.time.receive_reports()
        for charge in self.charges:
            if not charge.is_unknown:
                charge.receive_reports()
            charge.receive_refund_reports()

    @precondition(lambda history: any(charge.is_open for charge in history.charges))
    @rule()
    def look_up(self) -> None:
        self.time.look_up()
        for charge in self.charges:
            charge.look_up()

    @has_charges
    @rule()
    def look_up_in_vain(self) -> None:
        with provider(KnowsNothing()):
            self.time.look_up()

    @has_asking
    @rule(charge=awaiting)
    def end_action(self, charge: Charge) -> None:
        self.time.end_action(charge.name)
        charge.decide("action_expired")
        charge.receive_reports()

    @has_asking
    @rule(charge=awaiting)
    def end_page(self, charge: Charge) -> None:
        self.time.end_page(charge.name)
        charge.decide("action_expired")

    @precondition(lambda history: history.held())
    @rule(charge=one_of(lambda history: history.held()))
    def end_hold(self, charge: Charge) -> None:
        self.time.end_hold(charge.name)
        charge.is_hold_over = True
        for each in self.charges:
            each.release_overdue()

    @precondition(lambda history: any(charge.has_refunds_to_end for charge in history.charges))
    @rule()
    def end_refunds(self) -> None:
        self.time.end_refunds()
        for charge in self.charges:
            charge.let_refunds_end()

    @precondition(lambda history: any(each.stage == "captured" for each in history.charges))
    @rule()
    def settle(self) -> None:
        self.time.settle()
        for charge in self.charges:
            charge.settle()


class Machine(Clock):
    """The merchant's customers too, and its lists."""

    @precondition(lambda history: len(history.customers) < MOST_CUSTOMERS)
    @rule()
    def create_customer(self) -> None:
        answer = made(self.post("/customers/", {"email": "maria@shop.example", "description": "Buys rice"}))
        self.customers.append(Customer(answer["id"]))

    @has_customers
    @rule(customer=customers, source=unused)
    def attach(self, customer: Customer, source: Source) -> None:
        response = self.post(f"/customers/{customer.name}/sources", {"source": source.name})
        self.customer_answers(customer, response, customer.attach(source))

    @has_customers
    @rule(customer=customers, source=vaulted)
    def detach(self, customer: Customer, source: Source) -> None:
        response = self.api.delete(f"/customers/{customer.name}/sources/{source.name}")
        self.customer_answers(customer, response, customer.detach(source))

    @has_customers
    @rule(customer=customers)
    def delete_customer(self, customer: Customer) -> None:
        response = self.api.delete(f"/customers/{customer.name}")
        if refusal := customer.delete():
            check_refused(response, refusal)
        else:
            assert made(response) == {"id": customer.name, "object": "customer", "deleted": True}

    def customer_answers(self, customer: Customer, response: Any, refusal: str) -> None:
        if refusal:
            check_refused(response, refusal)
        else:
            check_customer(response, customer)

    @has_charges
    @rule(member=st.sampled_from(["status", "captured", "authorized", "source"]), limit=st.integers(1, 3))
    def list_charges(self, member: str, limit: int) -> None:
        value = query_value(self.charges[0], member)
        self.lists(limit, [each for each in self.charges if query_value(each, member) == value], **{member: value})

    @has_customers
    @rule(customer=customers, limit=st.integers(1, 3))
    def list_charges_of_customer(self, customer: Customer, limit: int) -> None:
        self.lists(limit, [charge for charge in self.charges if charge.source in customer.ever], customer=customer.name)

    def lists(self, limit: int, found: list[Charge], **query: str) -> None:
        """Fails unless the pages of a list hold exactly these charges, newest first."""
        page = made(self.api.get("/charges/", limit=limit, **query))
        names = [answer["id"] for answer in page["data"]]
        while "next" in page:
            page = made(self.api.get(page["next"].removeprefix("/v2")))
            names += [answer["id"] for answer in page["data"]]
        assert names == [charge.name for charge in reversed(found)]
