"""Histories of an assistant that calls at random, is interrupted and repeats, while people decide as they like."""

import sys
from collections import Counter
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from payments import clock
from payments.domain.approvals import decide
from payments.domain.approvals.execution import execute_left
from payments.domain.merchants.api_keys import create_key, revoke_key
from payments.domain.merchants.merchants import NewMerchant, create_merchant
from payments.domain.operators.four_eyes import Refused
from payments.failpoints import Failpoint
from payments.invariants import checks
from payments.invariants.registry import INVARIANTS
from payments.models import AssistantCall, Charge, Refund
from tests.client import Api
from tests.concurrency import Crash, at_once, crashing
from tests.machine.sweeps import Time
from tests.mcp.assistant import Assistant, Failed

HISTORIES = 4
EACH, DAY, AMOUNT = 3_000, 5_000, 10_000
RULES = [f"refund PHP {EACH / 100} {DAY / 100}", "void", "capture"]
TOOLS = st.sampled_from(["refund", "void", "capture", "refund"])
CHARGES, AMOUNTS, KEYS = st.integers(0, 2), st.integers(1, 6_000), st.integers(0, 4)
STEPS = (Failpoint.EXECUTING, Failpoint.OPENING, Failpoint.OPENED, Failpoint.ANSWERED, Failpoint.RECORDED)
CRASHES = st.sampled_from([None, None, *STEPS])


class Story(RuleBasedStateMachine):
    """A shop with a held and two captured charges, an assistant with a rule for refunds alone, and two people."""

    def __init__(self) -> None:
        super().__init__()
        self.shop = create_merchant("Sari Store")
        self.api, self.time = Api(self.shop.keys["sk_test"]), Time(self.shop.merchant)
        self.charges = [self.api.charge(amount=AMOUNT), self.api.charge(amount=AMOUNT), self.api.held(AMOUNT)]
        self.assistant = Assistant(self.shop.merchant, RULES)
        self.people = [User.objects.get_or_create(username=name, is_staff=True)[0] for name in ("petra", "paolo")]
        self.calls = AssistantCall.objects.filter(merchant=self.shop.merchant)

    def ask(self, tool: str, charge: int, amount: int, key: str) -> None:
        of_part = {} if tool == "void" else {"amount": amount}
        with suppress(Failed):
            about = {"id": self.charges[charge]["id"], **of_part}
            self.assistant.call(tool, **about, idempotency_key=key, why="It seems right.")

    @rule(tool=TOOLS, charge=CHARGES, amount=AMOUNTS, key=KEYS, crash=CRASHES)
    def call(self, tool: str, charge: int, amount: int, key: int, crash: Failpoint | None) -> None:
        with crashing(crash):
            self.ask(tool, charge, amount, f"k{key}")

    @rule(tool=TOOLS, charge=CHARGES, amount=AMOUNTS, key=KEYS, is_same=st.booleans())
    def call_at_once(self, tool: str, charge: int, amount: int, key: int, is_same: bool) -> None:
        """Call three times at once: as one wish, or as three."""
        at_once(3, lambda number: self.ask(tool, charge, amount, f"k{key}{'' if is_same else number}"))

    def approve(self, request: AssistantCall, person: User) -> bool:
        try:
            decide.approve(AssistantCall.objects.get(id=request.id), person, "Yes.")
        except Refused:
            return False
        except Crash:
            return True
        return True

    @precondition(lambda story: story.calls.proposed().exists())
    @rule(crash=CRASHES, is_rejected=st.booleans())
    def decide(self, crash: Failpoint | None, is_rejected: bool) -> None:
        """Have two people decide the oldest call at once, of whom one executes it, or dies."""
        request = self.calls.proposed().earliest("created_at")
        works = request.after["key"] == self.assistant.key.id.hex
        with crashing(crash):
            approvals = 0 if is_rejected else sum(at_once(2, lambda number: self.approve(request, self.people[number])))
        assert approvals == (works and not is_rejected)
        if not approvals:
            decide.reject(request, self.people[0], "No.")

    @precondition(lambda story: story.calls.proposed().exists())
    @rule()
    def revoke(self) -> None:
        """Revoke the key while a person approves its oldest call; the assistant gets another."""
        request, key = self.calls.proposed().earliest("created_at"), self.assistant.key
        acts = (lambda: self.approve(request, self.people[0]), lambda: revoke_key(key))
        is_approved, _ = at_once(2, lambda number: acts[number]())
        assert is_approved or not self.approve(request, self.people[1])
        rights = {"rights": key.rights, "rules": key.rules, "asks_as": key.asks_as}
        self.assistant.key, self.assistant.text = create_key(self.shop.merchant, False, key.kind, **rights)

    @rule()
    def recover(self) -> None:
        """Do what the worker does a while later."""
        self.time.look_up()
        self.calls.approved().update(updated_at=clock.now() - timedelta(minutes=2))
        execute_left()

    def teardown(self) -> None:
        """Nothing moved without the rule or a person, nor twice, nor above the day."""
        if sys.exception():
            return
        for _ in range(2):
            self.recover()
        assert not self.calls.approved().exists()
        done = list(self.calls.filter(state="done"))
        alone = [call for call in done if call.decided_by is None]
        assert {call.after["tool"] for call in alone} <= {"refund"}
        assert all(call.amount <= EACH for call in alone)
        assert sum(call.amount for call in alone) <= DAY
        refunded = Counter[str]()
        for call in done:
            # A refund that was asked for may still fail, and then gives nothing back.
            if call.after["tool"] == "refund" and call.attempt.refund.status != Refund.Status.FAILED:
                refunded[call.after["about"]] += call.amount
        for charge in Charge.objects.filter(merchant=self.shop.merchant):
            assert charge.amount_refunded == refunded[str(charge)]
            moved = {call.after["tool"] for call in done if call.after["about"] == str(charge)}
            assert charge.status != Charge.Status.VOIDED or "void" in moved
        assert self.api.read(self.charges[2])["captured"] is False or "capture" in {call.after["tool"] for call in done}
        assert checks.run(INVARIANTS).failures == []


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_nothing_moves_without_the_keys_rule_or_a_person() -> None:
    steps = {"max_examples": HISTORIES, "stateful_step_count": 12, "deadline": None, "database": None}
    quiet = settings(**steps, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(Story, settings=quiet)


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_calls_at_once_do_not_pass_the_day(shop: NewMerchant, api: Api) -> None:
    charge, assistant = api.charge(), Assistant(shop.merchant, [f"refund PHP {EACH / 100} {DAY / 100}"])

    def refund(number: int) -> str:
        wish = {"amount": 2_500, "idempotency_key": f"k{number}", "why": "It seems right."}
        asked: dict[str, Any] = assistant.call("refund", id=charge["id"], **wish)
        return str(asked["status"])

    states = Counter(at_once(6, refund))
    assert states["proposed"] == 4
    execute_left()
    assert AssistantCall.objects.filter(decided_by=None).exclude(state="proposed").count() == 2
    assert api.read(charge)["amount_refunded"] <= DAY


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_the_same_call_at_once_is_one(shop: NewMerchant, api: Api) -> None:
    charge, assistant = api.charge(), Assistant(shop.merchant, [f"refund PHP {EACH / 100} {DAY / 100}"])
    wish = {"id": charge["id"], "amount": 2_000, "idempotency_key": "one", "why": "It seems right."}
    answers = at_once(5, lambda _: assistant.call("refund", **wish)["id"])
    assert len(set(answers)) == 1
    assert api.read(charge)["amount_refunded"] == 2_000
