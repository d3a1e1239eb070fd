"""What becomes of charges: plots, told in the acts of a story."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from random import Random
from typing import TypeVar

from payments import sourcetypes
from payments.providers.base import NotFound, Unknown
from payments.providers.simulator.answers import operation_outcome
from payments.quickstart.demo import correcting, payers
from payments.quickstart.demo.keeping import give_up, keep
from payments.quickstart.demo.story import Story

Plot = Callable[[Story], None]
Choice = TypeVar("Choice")

DIRECT = "4000000000003055"
CHALLENGED = ("4242424242424242", "4012001037141112", "5555555555554444", "3566002020360505")
ANSWER_LOST, NEVER_ARRIVES = "4000000000005100", "4000000000005118"
REFUNDS_RETURN, REFUNDS_WAIT = "4000000000005126", "4000000000007726"
STOLEN = "4000000000009979"
DECLINED = (
    ("4000000000009995", 45),
    ("4000000000000002", 25),
    ("4000000000000127", 12),
    ("4000000000000069", 8),
    ("4000000000000119", 5),
    ("4000000000009987", 2),
    (STOLEN, 3),
)
UNANSWERED = Unknown("no answer in time")
# How Filipinos pay; other currencies come by card.
TYPES = (
    *(("card", 44), ("gcash", 27), ("maya", 8), ("qrph", 6), ("grabpay", 3), ("bpi", 3), ("unionbank", 2)),
    *(("instapay", 2), ("bdo", 1.5), ("paymaya", 1), ("pesonet", 0.5), ("rcbc", 0.5), ("alipay", 0.5)),
    *(("wechat", 0.5), ("unionpay", 0.5)),
)


def pick(random: Random, weighted: Sequence[tuple[Choice, float]]) -> Choice:
    choices, weights = zip(*weighted, strict=True)
    return random.choices(choices, weights)[0]  # nosec B311 # a demo has no secrets


def paid(story: Story) -> None:
    source_type = pick(story.shop.random, TYPES) if story.purchase.currency == "PHP" else sourcetypes.CARD
    begin(story, source_type, _good_card(story))
    _pay(story)


def refused(story: Story) -> None:
    begin(story, pick(story.shop.random, TYPES[1:]) if story.purchase.currency == "PHP" else "card", CHALLENGED[0])
    story.wait(seconds=story.shop.random.uniform(20, 400))
    story.refuse(pick(story.shop.random, (("payer_cancelled", 3), ("authentication_failed", 1))))


def abandoned(story: Story) -> None:
    begin(story, "card", story.shop.random.choice(CHALLENGED))
    assert story.book.payment.expires_at  # nosec B101 # for the type checker
    story.wait_until(story.book.payment.expires_at + timedelta(seconds=1))
    story.expire()


def declined(story: Story) -> None:
    begin(story, "card", pick(story.shop.random, DECLINED))


def voided(story: Story) -> None:
    paid(story)
    assert story.charge.settle_due_at  # nosec B101 # for the type checker
    # Until the day is over; a charge of the last minutes stays.
    left = (story.charge.settle_due_at - story.moment) / timedelta(minutes=1)
    if left > 5:
        story.wait(minutes=story.shop.random.uniform(1, min(left - 2, 300)))
        story.void()


def refunded(story: Story) -> None:
    paid(story)
    story.wait(days=story.shop.random.uniform(0.1, 20))
    story.refund()


def part_refunded(story: Story) -> None:
    paid(story)
    for _ in range(story.shop.random.choice((1, 1, 2))):
        story.wait(days=story.shop.random.uniform(0.1, 15))
        story.refund(max(1, story.purchase.amount // story.shop.random.choice((3, 4, 5, 10))))


def refund_returned(story: Story) -> None:
    begin(story, "card", REFUNDS_RETURN)
    story.wait(days=story.shop.random.uniform(0.1, 10))
    operation = story.refund()
    story.wait(days=story.shop.random.uniform(0.5, 4))
    story.end_refund(operation)


def refunded_later(story: Story) -> None:
    begin(story, "card", REFUNDS_WAIT)
    story.wait(days=story.shop.random.uniform(0.1, 10))
    operation = story.refund(ends_after=timedelta(seconds=4))
    story.wait(seconds=4)
    story.end_refund(operation)


def captured_later(story: Story) -> None:
    hold(story)
    story.wait(hours=story.shop.random.uniform(2, 140))
    story.capture()


def part_captured(story: Story) -> None:
    hold(story)
    story.wait(hours=story.shop.random.uniform(2, 140))
    story.capture(max(1, story.purchase.amount * story.shop.random.randint(40, 95) // 100))


def hold_voided(story: Story) -> None:
    hold(story)
    story.wait(hours=story.shop.random.uniform(1, 100))
    story.void()


def hold_expired(story: Story) -> None:
    hold(story)
    assert story.charge.hold_expires_at  # nosec B101 # for the type checker
    story.wait_until(story.charge.hold_expires_at + timedelta(seconds=10))
    story.release()


def found_approved(story: Story) -> None:
    begin(story, "card", ANSWER_LOST)
    story.wait(seconds=6)
    story.look_up(story.book.outcome)


def corrected(story: Story) -> None:
    begin(story, "card", ANSWER_LOST)
    _look_up_for(story, hours=5)
    correction = correcting.propose(story)
    story.wait(minutes=story.shop.random.uniform(5, 50))
    correcting.approve(story, correction)


def correction_rejected(story: Story) -> None:
    begin(story, "card", ANSWER_LOST)
    _look_up_for(story, hours=2)
    correction = correcting.propose(story)
    story.wait(minutes=story.shop.random.uniform(5, 50))
    correcting.reject(story, correction)
    _look_up_for(story, hours=2)
    story.look_up(story.book.outcome)


def never_arrived(story: Story) -> None:
    _be_given_up(story)
    while story.attempt.due_at:
        story.take_second_look(NotFound())


def came_late(story: Story) -> None:
    _be_given_up(story)
    story.wait(seconds=story.shop.random.uniform(60, 500))
    story.arrive()
    story.take_second_look(story.book.outcome)
    story.send_back()


def kept(story: Story) -> None:
    """A customer's kept card is charged; where there is none to be charged again, one is kept first."""
    random, known = story.shop.random, story.shop.kept
    if known and random.random() < 0.75:  # nosec B311 # a demo has no secrets
        story.source = random.choice(known)  # nosec B311 # a demo has no secrets
    else:
        _wrap(story, "card", DIRECT)
        known.append(keep(story).source)
    story.take()


def kept_for_a_while(story: Story) -> None:
    """A customer's card is charged once more, and given up."""
    _wrap(story, "card", DIRECT)
    tie = keep(story)
    story.take()
    story.wait(days=story.shop.random.uniform(1, 60))
    give_up(story, tie)


def awaiting(story: Story) -> None:
    begin(story, "card", CHALLENGED[0])
    story.wait(days=1)


def unknown(story: Story) -> None:
    begin(story, "card", ANSWER_LOST)
    story.look_up_in_vain(UNANSWERED)


def correction_proposed(story: Story) -> None:
    begin(story, "card", ANSWER_LOST)
    _look_up_for(story, hours=3)
    correcting.propose(story)
    story.look_up_in_vain(UNANSWERED)


def refund_pending(story: Story) -> None:
    begin(story, "card", REFUNDS_WAIT)
    story.wait(minutes=20)
    story.look_up_in_vain(operation_outcome(story.refund(ends_after=timedelta(days=5))))


def _look_up_for(story: Story, hours: float) -> None:
    """Lookups find nothing out for so long."""
    end = story.moment + timedelta(hours=hours)
    while story.attempt.due_at and story.attempt.due_at < end:
        story.wait_until(story.attempt.due_at)
        story.look_up(UNANSWERED)


def _be_given_up(story: Story) -> None:
    begin(story, "card", NEVER_ARRIVES)
    story.wait(seconds=6)
    story.look_up(NotFound())


def begin(story: Story, source_type: str, number: str, *, hold: bool = False) -> None:
    _wrap(story, source_type, number)
    story.take(hold=hold)


def _wrap(story: Story, source_type: str, number: str) -> None:
    card = payers.card(story.shop.random, number, story.moment) if source_type == sourcetypes.CARD else None
    story.wrap(source_type, card)
    story.wait(seconds=story.shop.random.uniform(0.3, 20))


def _pay(story: Story) -> None:
    if story.charge.action:
        story.wait(seconds=story.shop.random.uniform(8, 300))
        story.pay(with_pin=story.charge.action["type"] == "verify_otp")


def hold(story: Story) -> None:
    begin(story, "card", _good_card(story), hold=True)
    _pay(story)


def _good_card(story: Story) -> str:
    return story.shop.random.choice((DIRECT, DIRECT, *CHALLENGED))
