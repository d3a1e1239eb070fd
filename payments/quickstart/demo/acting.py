"""What operators do about charges, alone or with a second person's word, and whom they block."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.conf import settings

from payments import clock, sourcetypes
from payments.domain.charging import operations
from payments.domain.charging.operations import Plan
from payments.domain.charging.state_machine import set_operation
from payments.domain.operators import execute
from payments.domain.risk import blocks
from payments.models import Block, StaffAct
from payments.quickstart.demo import payers
from payments.quickstart.demo.rows import change
from payments.quickstart.demo.story import SIMULATOR, Story
from payments.staff.roles import LIMITS

Kind, State = StaffAct.Kind, StaffAct.State
REASONS = {
    Kind.REFUND: ("Arrived damaged; photos in the ticket.", "Charged twice, says the payer.", "Trip cancelled by us."),
    Kind.RELEASE: ("The guest cancelled by telephone.",),
    Kind.EXTEND: ("The delivery is late, and the payer agreed to wait.",),
}
APPROVAL = "Called the merchant: they know of it."
REFUSAL = "The merchant has seen the parcel's receipt. Not without a return."
BLOCKED, LIFTED = "Chargebacks at other shops.", "It was the owner after all; the bank confirmed."


def do_alone(story: Story, kind: str, amount: int) -> None:
    """One operator does it, at once."""
    with story.telling():
        act = _new(story, kind, amount, State.APPROVED)
    _do(story, act)


def ask(story: Story, kind: str, amount: int) -> StaffAct:
    """One operator asks for it."""
    with story.telling():
        return _new(story, kind, amount, State.PROPOSED)


def approve(story: Story, act: StaffAct) -> None:
    """Another operator agrees, and it is done."""
    _decide(story, act, State.APPROVED, APPROVAL)
    _do(story, act)


def decline(story: Story, act: StaffAct) -> None:
    """Another operator does not agree."""
    _decide(story, act, State.DECLINED, REFUSAL)


def limit_in(currency: str) -> int:
    """How much an operator of the demo gives back alone."""
    return LIMITS["finance"].get(currency, 0)


def block_card(story: Story) -> Block:
    """An operator blocks the card at the story's shop, for good."""
    return _block(story, **blocks.of_card(story.source.card))


def block_email(story: Story) -> Block:
    """An operator blocks a payer's address at the story's shop for 90 days."""
    email = payers.email(story.shop.random, payers.name(story.shop.random))
    return _block(story, email=email, expires_at=story.moment + timedelta(days=90))


def lift(story: Story, block: Block) -> None:
    """Another operator lifts a block."""
    with story.telling():
        lifted = {"lifted_by": story.shop.operators[1], "lifted_at": clock.now(), "lifted_because": LIFTED}
        change(block, lifted)


def _new(story: Story, kind: str, amount: int, state: str) -> StaffAct:
    currency = story.charge.currency
    act = StaffAct(charge=story.charge, kind=kind, amount=amount, currency=currency, state=state)
    act.reason = story.shop.random.choice(REASONS[Kind(kind)])  # nosec B311 # a demo has no secrets
    act.proposed_by, act.limit = story.shop.operators[0], limit_in(currency)
    act.expires_at = clock.now() + timedelta(hours=settings.STAFF_ACT_HOURS)
    story.rows.add(act)
    return act


def _decide(story: Story, act: StaffAct, state: str, note: str) -> None:
    with story.telling():
        decided = {"decided_by": story.shop.operators[1], "decided_at": clock.now(), "updated_at": clock.now()}
        change(act, decided | {"state": state, "note": note})


def _do(story: Story, act: StaffAct) -> None:
    caller = execute.caller_of(act)
    story.operate(caller, PLANS[act.kind](act))
    with story.telling():
        change(act, {"state": State.DONE, "attempt": story.attempt, "updated_at": clock.now()})


def _extension(act: StaffAct) -> Plan:
    """As `operations.plan_extend`, which reads from the database by whom the hold was granted."""
    capabilities = SIMULATOR.provider.capabilities(sourcetypes.CARD)
    assert capabilities  # nosec B101 # for the type checker
    return Plan(
        Kind.EXTEND,
        act.amount,
        (set_operation(act.charge, Kind.EXTEND),),
        hold_days=capabilities.hold_extension_days,
    )


PLANS: dict[str, Callable[[StaffAct], Plan]] = {
    Kind.REFUND: lambda act: operations.plan_refund(act.charge, act.amount, "requested_by_customer"),
    Kind.RELEASE: lambda act: operations.plan_release(act.charge),
    Kind.EXTEND: _extension,
}


def _block(story: Story, **what: Any) -> Block:
    with story.telling():
        where = {"merchant": story.shop.merchant, "livemode": False}
        block = Block(**where, reason=BLOCKED, put_by=story.shop.operators[0], **what)
        story.rows.add(block)
        return block
