"""Payments and operations whose answers get lost, seen as kaha sees them, and held against the provider's books."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random

from payments.providers import http
from payments.providers.base import (
    ActionRequired,
    Approved,
    Declined,
    NotFound,
    NotSent,
    Operation,
    Outcome,
    Payment,
    Rejected,
    Report,
    Unknown,
)
from payments.providers.http import Line, Reply
from tests.providers.adyen.bench import adyen_bench
from tests.providers.bench import AMOUNT, Bench, Money, Spoilt, Webhook, asked, operation, redirected, taken
from tests.providers.xendit.bench import xendit_bench

BENCHES = {"xendit": xendit_bench, "adyen": adyen_bench}
# How long an answer is waited for that takes longer than anybody waits.
HASTE_SECONDS = 0.2
PART = 4_000
SPOILS = (Spoilt.LOST, Spoilt.CUT, Spoilt.GARBLED, Spoilt.FAILING, Spoilt.DELAYED)
KINDS = ("taken", "held", "declined", "redirected", "capture", "void", "refund")
FINAL = Approved | Declined | NotFound
# How often everything that has no end is asked for; in the first of these the network is as bad as before.
ROUNDS = 12
BAD_ROUNDS = 3


@dataclass
class Question:
    """Something that was asked of a provider, about `payment`; `end` is the first outcome of it that was final."""

    asked: Payment | Operation
    payment: Payment
    end: Outcome | None = None
    is_contradicted: bool = False
    brought: dict[str, str] | None = None

    def learn(self, outcome: Outcome) -> None:
        """Only ever forward: whatever comes after the end changes nothing."""
        if isinstance(outcome, FINAL):
            self.is_contradicted |= self.end is not None and type(self.end) is not type(outcome)
            self.end = self.end or outcome
        elif provider_ref := getattr(outcome, "provider_ref", ""):
            self.asked = replace(self.asked, provider_ref=self.asked.provider_ref or provider_ref)


@dataclass
class Tally:
    """What came of many questions: all but the first two should be nothing.

    `doubled` where more was moved at the provider than kaha knows of, `lost` where less was.
    """

    ambiguous: int = 0
    webhooks: int = 0
    doubled: int = 0
    lost: int = 0
    unresolved: int = 0
    contradicted: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(*(mine + theirs for mine, theirs in zip(vars(self).values(), vars(other).values(), strict=True)))


class Sender:
    """Waits for answers as long as anybody does, but not for the one that it is told of."""

    def __init__(self, hasty: Line) -> None:
        self._hasty = hasty
        self._is_in_haste = False

    def hurry(self) -> None:
        """Will not wait for the next answer, lookups left out."""
        self._is_in_haste = True

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None) -> Reply:
        """As `payments.providers.http.send`."""
        if method == "GET" or not self._is_in_haste:
            return http.send(method, url, headers, body)
        self._is_in_haste = False
        return self._hasty.send(method, url, headers, body)


def play(provider: str, hasty: Line, chance: Random, answers: int) -> Tally:
    """What comes of so many ambiguous answers at a provider of its own; `hasty` soon waits no longer."""
    sender = Sender(hasty)
    with BENCHES[provider](sender.send) as bench:
        return Play(bench, sender, chance).run(answers)


@dataclass
class Play:
    """What kaha does at one provider whose network is bad, until everything has an end."""

    bench: Bench
    sender: Sender
    chance: Random
    tally: Tally = field(default_factory=Tally)
    questions: dict[str, Question] = field(default_factory=dict)
    late: list[Webhook] = field(default_factory=list)

    def run(self, answers: int) -> Tally:
        """So many ambiguous answers, and everything that is then done to know."""
        while self.tally.ambiguous < answers:
            self._ask()
        for number in range(ROUNDS):
            self.bench.let_pass()
            self._hear()
            for question in self._open():
                self._look_up(question, spoils=number < BAD_ROUNDS)
        self._hear(keeps_back=False)
        for question in self.questions.values():
            self._judge(question)
        return self.tally

    def _open(self) -> list[Question]:
        return [question for question in self.questions.values() if question.end is None]

    def _ask(self) -> None:
        question = self._made(self.chance.choice(KINDS))
        self._spoil()
        kind = question.asked.kind if isinstance(question.asked, Operation) else "create_payment"
        outcome: Outcome = getattr(self.bench.connector, kind)(question.asked)
        self.questions[question.asked.reference] = question
        self.tally.ambiguous += isinstance(outcome, Unknown)
        if isinstance(outcome, NotSent | Rejected):
            question.end = outcome
        question.learn(outcome)

    def _made(self, kind: str) -> Question:
        made = {
            "taken": lambda: asked(self.bench),
            "held": lambda: asked(self.bench, capture=False),
            "declined": lambda: asked(self.bench, card=self.bench.card(declined="card_declined")),
            "redirected": lambda: redirected(self.bench),
        }
        if kind in made:
            return Question(payment := made[kind](), payment)
        payment = taken(self.bench, capture=kind == "refund")
        return Question(operation(kind, payment, AMOUNT if kind == "void" else PART), payment)

    def _spoil(self) -> None:
        how = self.chance.choice(SPOILS)
        self.bench.spoil_next(how)
        if how is Spoilt.DELAYED:
            self.sender.hurry()

    def _hear(self, *, keeps_back: bool = True) -> None:
        """What the provider told: each of it once or often, in any order, half of it later unless all is wanted."""
        told = [*self.late, *(webhook for webhook in self.bench.webhooks() for _ in range(self.chance.randint(1, 3)))]
        self.chance.shuffle(told)
        half = len(told) // 2 if keeps_back else 0
        self.late = told[:half]
        for headers, body in told[half:]:
            self.tally.webhooks += 1
            for report in self.bench.connector.read_callback(headers, body):
                self._believe(report)

    def _believe(self, report: Report) -> None:
        question = self.questions.get(report.reference)
        if question and report.amount in (None, question.asked.amount):
            known = replace(question.asked, provider_ref=question.asked.provider_ref or report.provider_ref)
            question.learn(report.outcome or self.bench.connector.resolve(known))

    def _look_up(self, question: Question, *, spoils: bool) -> None:
        if spoils and self.chance.random() < 0.5:
            self.bench.spoil_next(Spoilt.DOWN)
        outcome = self.bench.connector.resolve(question.asked)
        question.learn(outcome)
        if isinstance(outcome, ActionRequired):
            self._act(question)

    def _act(self, question: Question) -> None:
        """The payer pays, once, and comes back as often as it is needed."""
        assert isinstance(question.asked, Payment)
        if question.brought is None:
            question.brought = dict(self.bench.pay(question.asked))
        question.learn(self.bench.connector.continue_payment(question.asked, question.brought))

    def _judge(self, question: Question) -> None:
        booked, expected = self.bench.money(question.payment), _expected(question)
        moved = [(getattr(booked, name), getattr(expected, name)) for name in vars(booked)]
        self.tally.doubled += any(there > ours for there, ours in moved)
        self.tally.lost += any(there < ours for there, ours in moved)
        self.tally.unresolved += question.end is None
        self.tally.contradicted += question.is_contradicted


def _expected(question: Question) -> Money:
    """What the provider's books must say where kaha's say that it ended so."""
    asked, is_done = question.asked, isinstance(question.end, Approved)
    if isinstance(asked, Payment):
        held, paid = (0, asked.amount) if asked.capture else (asked.amount, 0)
        return Money(held, paid) if is_done else Money()
    if asked.kind == "refund":
        return Money(taken=AMOUNT, returned=asked.amount if is_done else 0)
    if not is_done:
        return Money(held=AMOUNT)
    return Money(taken=asked.amount) if asked.kind == "capture" else Money()
