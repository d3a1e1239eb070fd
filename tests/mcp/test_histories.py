"""Histories of an assistant that calls at random, is interrupted and repeats, while a person decides as it likes."""

from collections import Counter
from contextlib import suppress
from typing import Any

import pytest
from django.contrib.auth.models import User
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from payments.domain.approvals import decide
from payments.domain.approvals.execution import execute_action, execute_left
from payments.domain.merchants.merchants import NewMerchant, create_merchant
from payments.invariants import checks
from payments.invariants.registry import INVARIANTS
from payments.models import AssistantCall, Charge
from tests.client import Api
from tests.concurrency import at_once
from tests.mcp.assistant import Assistant, Failed

EACH, DAY, AMOUNT = 3_000, 5_000, 10_000
TOOLS = st.sampled_from(["refund", "void", "capture", "refund"])
CALLS = st.tuples(st.just("call"), TOOLS, st.integers(0, 2), st.integers(1, 6_000), st.integers(0, 4))
DECISIONS = st.tuples(st.sampled_from(["approve", "reject", "execute", "die"]))
HISTORIES = st.lists(st.one_of(CALLS, DECISIONS), min_size=4, max_size=14)


class Story:
    """A shop with a held and two captured charges, an assistant with a rule for refunds alone, and a person."""

    def __init__(self) -> None:
        self.shop = create_merchant("Sari Store")
        self.api = Api(self.shop.keys["sk_test"])
        self.charges = [self.api.charge(amount=AMOUNT), self.api.charge(amount=AMOUNT), self.api.held(AMOUNT)]
        self.assistant = Assistant(self.shop.merchant, [f"refund PHP {EACH / 100} {DAY / 100}", "void", "capture"])
        self.person, _ = User.objects.get_or_create(username="petra", is_staff=True)
        self.calls = AssistantCall.objects.filter(merchant=self.shop.merchant)

    def take(self, step: tuple[Any, ...]) -> None:
        match step:
            case "call", tool, charge, amount, key:
                of_part = {} if tool == "void" else {"amount": amount}
                with suppress(Failed):
                    self.assistant.call(
                        tool, id=self.charges[charge]["id"], **of_part, idempotency_key=f"k{key}", why="It seems right."
                    )
            case ("execute",):
                execute_left()
            case (what,):
                self.decide(what)

    def decide(self, what: str) -> None:
        """Decide the oldest call that waits; a process that dies leaves it approved."""
        request = self.calls.proposed().order_by("created_at").first()
        if request is None:
            return
        if what == "reject":
            decide.reject(request, self.person, "No.")
            return
        decide.approve(request, self.person, "Yes.")
        if what == "approve":
            execute_action(request)

    def check(self) -> None:
        """Nothing moved without the rule or a person, nor twice, nor above the day."""
        done = list(self.calls.filter(state="done"))
        alone = [call for call in done if call.decided_by is None]
        assert {call.after["tool"] for call in alone} <= {"refund"}
        assert all(call.amount <= EACH for call in alone)
        assert sum(call.amount for call in alone) <= DAY
        refunded = Counter[str]()
        for call in done:
            refunded[call.after["about"]] += call.amount * (call.after["tool"] == "refund")
        for charge in Charge.objects.filter(merchant=self.shop.merchant):
            assert charge.amount_refunded == refunded[str(charge)]
            moved = {call.after["tool"] for call in done if call.after["about"] == str(charge)}
            assert charge.status != Charge.Status.VOIDED or "void" in moved
        assert self.api.read(self.charges[2])["captured"] is False or "capture" in {call.after["tool"] for call in done}
        assert checks.run(INVARIANTS).failures == []


@pytest.mark.long
@settings(
    max_examples=5,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(history=HISTORIES)
def test_nothing_moves_without_the_keys_rule_or_a_person(
    history: list[tuple[Any, ...]], transactional_db: None
) -> None:
    story = Story()
    for step in history:
        story.take(step)
    story.check()


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
