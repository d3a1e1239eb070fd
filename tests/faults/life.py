"""One source and its money, through any crash."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import count
from random import Random
from typing import Any
from uuid import UUID

from payments import clock
from payments.domain.approvals.execution import LEFT_AFTER
from payments.domain.disputes.respond import DUE as RESPONSES
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.payouts import make
from payments.ids import parse_id, public_id
from payments.models import Charge, PayoutSchedule, Webhook
from payments.webhooks.claims import LEASE
from tests.client import APPROVED, REFUNDS_FAIL, Api, made
from tests.customers.factories import new_customer
from tests.faults import bank_statements
from tests.faults.approvals import Approval, LetOut, faults
from tests.faults.books import differences, not_found_out
from tests.faults.client import ask_until_answered, broken_promises, is_final
from tests.faults.elapsed_time import let_approvals_pass, let_leases_end, let_pass, let_responses_end
from tests.faults.jobs import Answer, Fault, PayOut, Request, Stall, Visit, deliver, recover, respond
from tests.faults.processes import Job
from tests.faults.verbs import ACTION_SECONDS, VERBS
from tests.faults.world import World

# From one recovery to the next, and within a minute in all.
ROUNDS_SECONDS = (16, 6, 31)
SHOP = {"success": "https://shop.example/thanks", "fail": "https://shop.example/sorry"}


@dataclass(frozen=True)
class Kind:
    """A card by its number, or another type of source; `vaulted` for a card that is kept for a customer."""

    number: str = APPROVED
    type: str = "card"
    vaulted: bool = False


@dataclass
class Life:
    """Everything that is done to one source of `shop`, whose endpoint gets its webhooks if `announced`.

    `decision` is what its payer will do, `pay`, `fail` or `cancel`; with the others than `pay` a PIN is wrong.
    `done` counts what was done under which fault, `killed` those whose process was killed indeed; `findings` are what
    must never be, a class and a line each.
    """

    world: World
    shop: NewMerchant
    random: Random
    kind: Kind = Kind()
    amount: int = 10_000
    capture: bool = True
    announced: bool = True
    decision: str = "pay"
    done: Counter[tuple[str, Fault]] = field(default_factory=Counter)
    killed: Counter[tuple[str, Fault]] = field(default_factory=Counter)
    findings: list[tuple[str, str]] = field(default_factory=list)
    keys: Iterator[int] = field(default_factory=count)

    @property
    def merchant_id(self) -> UUID:
        return self.shop.merchant.id

    @cached_property
    def api(self) -> Api:
        return Api(self.shop.keys["sk_test"])

    @cached_property
    def source_id(self) -> UUID:
        """The source, made when it is first asked for."""
        source = self._make_source({"redirect": SHOP | {"notify": self.world.endpoint.url}} if self.announced else {})
        if self.kind.vaulted:
            made(self.api.post(f"/customers/{new_customer(self.api)['id']}/sources", {"source": source}))
        uuid = parse_id("src", source)
        assert uuid
        return uuid

    @property
    def charge(self) -> Charge:
        """As it is now."""
        return Charge.objects.get(source_id=self.source_id)

    @property
    def path(self) -> str:
        return f"/charges/{public_id('ch', self.charge.id)}"

    def request(self, path: str, body: dict[str, Any]) -> Request:
        """Return a new request of the merchant's program, under a key of its own."""
        return Request(self.api.key, path, body, self.new_key())

    def new_key(self) -> str:
        """Return a new idempotency key."""
        # A number right after the digits of an ID is taken for the end of a card number once in 25,000 keys.
        return f"{next(self.keys)} of {self.source_id.hex}"

    def do(self, verb: str, fault: Fault = None, then: Fault = None) -> None:
        """Run `verb` under `fault` and find its outcome, the first time under the fault `then`."""
        job = VERBS[verb].prepare(self)
        result = self._expose(verb, job, fault)
        if then is not None:
            let_pass(self.source_id, ROUNDS_SECONDS[0])
            self._expose("recover", recover, then)
        answer = self._proceed(job, result)
        self._find_out()
        if _is_lost(fault) or _is_lost(then):
            self._find_out_later()
        if isinstance(job, Request):
            self._check_answer(job, answer)
        if isinstance(job, Approval):
            self.findings.extend(faults(job))
        self._compare(after=f"{verb} {fault} {then or ''}")

    def begin(self) -> None:
        """Charges the source without any fault, and without looking at what comes of it."""
        VERBS["charge"].prepare(self)()

    def _expose(self, verb: str, job: Job, fault: Fault) -> Any:
        ending = self.world.expose(job, fault, meanwhile=lambda: self._take_for_dead(job))
        self.done[verb, fault] += 1
        self.killed[verb, fault] += ending.killed
        return ending.result

    def _take_for_dead(self, job: Job) -> None:
        self._proceed(job, None)
        self._find_out()

    def _make_source(self, members: dict[str, Any]) -> str:
        if self.kind.type == "card":
            return self.api.source(self.kind.number, **members)
        return self.api.wallet(self.kind.type, **members)

    def _proceed(self, job: Job, result: Any) -> Any:
        """Act as the client of a process that ended without an answer or with `result`."""
        match job:
            case Request():
                return ask_until_answered(job, result, self._waits())
            case Visit():
                return self._visit_until_over(job)
            case LetOut():
                # The operator sends the decision again.
                return job()
            case Approval():
                # Nobody sends it again: the worker does what is left.
                let_approvals_pass(self.merchant_id, round(LEFT_AFTER.total_seconds()))
                return self._find_out()
        if job is deliver:
            let_leases_end(self.merchant_id, round(LEASE.total_seconds()) + 1)
        if job is respond:
            let_responses_end(self.source_id, round(RESPONSES.lease.total_seconds()) + 1)
        job()
        if isinstance(job, PayOut):
            self._check_paid_out()
        return self._check_reported() if job is deliver else None

    def _waits(self) -> Iterator[Callable[[], None]]:
        return (partial(self._wait, seconds) for seconds in ROUNDS_SECONDS)

    def _wait(self, seconds: int) -> None:
        let_pass(self.source_id, seconds)
        recover()

    def _visit_until_over(self, visit: Visit) -> None:
        for wait in self._waits():
            visit()
            if self.charge.status != Charge.Status.PENDING:
                return
            wait()
        self._found("lost", f"the payer of {self.charge} decided, and it waits")

    def _find_out(self) -> None:
        """Lets a minute pass at most, until the outcome of everything is known."""
        for wait in self._waits():
            wait()
            if not not_found_out(self.source_id):
                return
        self._found("unresolved", f"{self.charge} is not found out")

    def _find_out_later(self) -> None:
        """Lets the hour of the payer pass, in which what was given up is looked up again too."""
        let_pass(self.source_id, ACTION_SECONDS)
        recover()
        self._find_out()

    def _check_answer(self, request: Request, answer: Answer | None) -> None:
        """Check that the client gets the same true answer on every retry."""
        again = request()
        if answer is None or not is_final(answer):
            self._found("lost", f"{request.path} was never answered, but with {answer}")
        elif (again.status, again.body, again.replayed) != (answer.status, answer.body, True):
            self._found("lost", f"{request.path} was answered {answer} and then {again}")
        elif answer.status not in (200, 201):
            self._found("refused", f"{request.path} was answered {answer}")
        else:
            now = made(self.api.get(self.path))
            for line in broken_promises(json.loads(answer.body), now, self.kind.number == REFUNDS_FAIL):
                self._found("lost", line)

    def _check_reported(self) -> None:
        """Whether every webhook of the charge was sent and received."""
        rows = Webhook.objects.filter(event__object_id=self.charge.id)
        announced = {public_id("evt", row.event_id) for row in rows if row.state == Webhook.State.DELIVERED}
        if len(announced) < len(rows) or announced - self.world.endpoint.noticed():
            self._found("lost", f"events of {self.charge} were never sent")

    def _check_paid_out(self) -> None:
        """Whether everything that can be paid out is in a payout."""
        schedule = PayoutSchedule.objects.get(merchant_id=self.merchant_id, livemode=False)
        left = make.payable(schedule, clock.now())
        if left - left * schedule.reserve_percent // 100 >= 1:
            self._found("lost", f"{left} can be paid out and was not")

    def _compare(self, after: str) -> None:
        charges = Charge.objects.filter(source_id=self.source_id)
        if charges.count() != 1:
            self._found("double", f"{charges.count()} charges after {after}")
        asked = sum(count for (verb, _), count in self.done.items() if verb.endswith("refund"))
        if charges.filter(refunds__isnull=False).count() > asked:
            self._found("double", f"more refunds than {asked} after {after}")
        found = (*differences(self.source_id), *bank_statements.faults())
        self.findings.extend(("books", f"{line} after {after}") for line in found)

    def _found(self, what: str, line: str) -> None:
        self.findings.append((what, line))


def _is_lost(fault: Fault) -> bool:
    """Whether the process asked when it had been taken for dead, and got no answer."""
    return isinstance(fault, Stall) and fault.then is not None
