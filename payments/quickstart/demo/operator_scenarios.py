"""What operators do about charges: alone, with an approval, about unknown outcomes, and against stolen cards."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User

from payments.domain.approvals import decide, execution, request
from payments.domain.operators.four_eyes import limit_of
from payments.domain.risk import blocks
from payments.models import ApprovalRequest, Block, Correction, OperatorAction
from payments.providers.simulator import books
from payments.quickstart.demo.sales import Sale
from payments.quickstart.demo.scenarios import (
    ANSWER_LOST,
    DIRECT,
    STOLEN,
    Steps,
    after,
    begin,
    hold,
    look_up_in_vain,
    paid,
)

Kind = OperatorAction.Kind
REASONS: dict[str, tuple[str, ...]] = {
    Kind.REFUND: ("Arrived damaged; photos in the ticket.", "Charged twice, says the payer.", "Trip cancelled by us."),
    Kind.RELEASE: ("The guest cancelled by telephone.",),
    Kind.EXTEND: ("The delivery is late, and the payer agreed to wait.",),
}
APPROVED = "Called the merchant: they agree."
REJECTED = "The merchant has the parcel's receipt. Not without a return."
BLOCKED, LIFTED = "Chargebacks at other shops.", "It was the owner after all; the bank confirmed."
EVIDENCE = "The provider's portal shows it as paid, under the reference given; screenshot in the shared folder."
CONFIRMED = "Looked it up in the portal myself."
NOT_FOUND = "The portal has no payment of that reference yet; asked the provider."

Decide = Callable[[ApprovalRequest, User, str], None]


def refunded_by_operator(sale: Sale) -> Steps:
    """Refund a part within the operator's limit; the whole with an approval in a currency without a limit."""
    yield from _paid_some_days_ago(sale)
    operator = sale.shop.operators[0]
    if alone := min(sale.purchase.amount // 2, limit_of(operator, sale.charge.currency) or 0):
        _request(sale, Kind.REFUND, alone, operator)
    else:
        yield from _request_and_decide(sale, decide.approve, APPROVED)


def refund_approved(sale: Sale) -> Steps:
    yield from _paid_some_days_ago(sale)
    yield from _request_and_decide(sale, decide.approve, APPROVED)


def refund_rejected(sale: Sale) -> Steps:
    yield from _paid_some_days_ago(sale)
    yield from _request_and_decide(sale, decide.reject, REJECTED)


def refund_requested(sale: Sale) -> Steps:
    yield from begin(sale, "card", DIRECT)
    yield after(minutes=sale.random.uniform(5, 30))
    _request(sale, Kind.REFUND, sale.purchase.amount, sale.shop.operators[2])


def released_by_operator(sale: Sale) -> Steps:
    yield from hold(sale)
    yield after(hours=sale.random.uniform(1, 100))
    _request(sale, Kind.RELEASE, sale.purchase.amount, sale.shop.operators[0])


def extended_by_operator(sale: Sale) -> Steps:
    yield from hold(sale)
    yield after(hours=sale.random.uniform(120, 160))
    _request(sale, Kind.EXTEND, sale.purchase.amount, sale.shop.operators[0])
    yield after(days=sale.random.uniform(1, 6))
    sale.capture()


def corrected(sale: Sale) -> Steps:
    yield from begin(sale, "card", ANSWER_LOST)
    yield from look_up_in_vain(sale, hours=5)
    correction = _propose(sale)
    yield after(minutes=sale.random.uniform(5, 50))
    decide.approve(correction, sale.shop.operators[1], CONFIRMED)


def correction_rejected(sale: Sale) -> Steps:
    yield from begin(sale, "card", ANSWER_LOST)
    yield from look_up_in_vain(sale, hours=2)
    correction = _propose(sale)
    yield after(minutes=sale.random.uniform(5, 50))
    decide.reject(correction, sale.shop.operators[1], NOT_FOUND)
    yield from look_up_in_vain(sale, hours=2)
    sale.look_up()


def correction_proposed(sale: Sale) -> Steps:
    yield from begin(sale, "card", ANSWER_LOST)
    yield from look_up_in_vain(sale, hours=3)
    _propose(sale)
    yield from look_up_in_vain(sale)


def blocked(sale: Sale) -> Steps:
    """Block a stolen card for good, and for a while a payer's address, which turns out to be honest."""
    yield from begin(sale, "card", STOLEN)
    yield after(hours=sale.random.uniform(1, 30))
    _block(sale, None, **blocks.card_columns(sale.charge.source.card))
    block = _block(sale, timedelta(days=90), email=sale.payer_email(sale.payer_name()))
    yield after(days=sale.random.uniform(1, 30))
    blocks.lift(block, sale.shop.operators[1], LIFTED)


def _paid_some_days_ago(sale: Sale) -> Steps:
    yield from paid(sale)
    yield after(days=sale.random.uniform(0.2, 20))


def _request(sale: Sale, kind: str, amount: int, operator: User) -> OperatorAction:
    """Request an operator action, and execute it where it needs no approval; return it."""
    reason = sale.random.choice(REASONS[kind])
    action = OperatorAction(charge=sale.charge, kind=kind, amount=amount, reason=reason, proposed_by=operator)
    request.submit(action)
    _execute(sale, action)
    return action


def _request_and_decide(sale: Sale, decision: Decide, note: str) -> Steps:
    """Request a refund of the whole as the operator who has no limit, and have another one decide it."""
    action = _request(sale, Kind.REFUND, sale.purchase.amount, sale.shop.operators[2])
    yield after(minutes=sale.random.uniform(5, 300))
    decision(action, sale.shop.operators[1], note)
    _execute(sale, action)


def _execute(sale: Sale, action: OperatorAction) -> None:
    if action.state == OperatorAction.State.APPROVED:
        execution.execute_action(action)
        sale.reload()


def _propose(sale: Sale) -> Correction:
    """Propose that the provider took the money."""
    attempt = sale.attempt
    correction = Correction(
        kind=Correction.Kind.CORRECTION,
        attempt=attempt,
        after={"outcome": "approved", "code": "", "reference": str(books.find_payment(attempt.reference))},
        reason=EVIDENCE,
        proposed_by=sale.shop.operators[0],
    )
    request.submit(correction)
    return correction


def _block(sale: Sale, lasts: timedelta | None, **what: Any) -> Block:
    block = Block(merchant=sale.shop.merchant, livemode=False, reason=BLOCKED, put_by=sale.shop.operators[0], **what)
    blocks.add_block(block, lasts)
    return block
