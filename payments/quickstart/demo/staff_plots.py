"""What operators do about charges, as plots."""

from collections.abc import Callable

from payments.models import StaffAct
from payments.quickstart.demo import acting
from payments.quickstart.demo.plots import DIRECT, STOLEN, begin, hold, paid
from payments.quickstart.demo.story import Story


def refunded_by_staff(story: Story) -> None:
    """A part within one operator's limit, or the whole with a second person's word."""
    paid(story)
    story.wait(days=story.shop.random.uniform(0.2, 20))
    alone = min(story.purchase.amount // 2, acting.limit_in(story.purchase.currency))
    if alone:
        acting.do_alone(story, "refund", alone)
    else:
        _ask_and_decide(story, acting.approve)


def refund_of_staff_approved(story: Story) -> None:
    paid(story)
    story.wait(days=story.shop.random.uniform(0.2, 20))
    _ask_and_decide(story, acting.approve)


def refund_of_staff_declined(story: Story) -> None:
    paid(story)
    story.wait(days=story.shop.random.uniform(0.2, 20))
    _ask_and_decide(story, acting.decline)


def released_by_staff(story: Story) -> None:
    hold(story)
    story.wait(hours=story.shop.random.uniform(1, 100))
    acting.do_alone(story, "release", story.purchase.amount)


def extended_by_staff(story: Story) -> None:
    hold(story)
    story.wait(hours=story.shop.random.uniform(120, 160))
    acting.do_alone(story, "extend", story.purchase.amount)
    story.wait(days=story.shop.random.uniform(1, 6))
    story.capture()


def blocked(story: Story) -> None:
    """A stolen card is blocked, and a payer's address, which turns out to be honest."""
    begin(story, "card", STOLEN)
    story.wait(hours=story.shop.random.uniform(1, 30))
    acting.block_card(story)
    block = acting.block_email(story)
    story.wait(days=story.shop.random.uniform(1, 30))
    acting.lift(story, block)


def refund_asked_for(story: Story) -> None:
    begin(story, "card", DIRECT)
    story.wait(minutes=story.shop.random.uniform(5, 30))
    acting.ask(story, "refund", story.purchase.amount)
    story.wait(days=1)


def _ask_and_decide(story: Story, decide: Callable[[Story, StaffAct], None]) -> None:
    act = acting.ask(story, "refund", story.purchase.amount)
    story.wait(minutes=story.shop.random.uniform(5, 300))
    decide(story, act)
