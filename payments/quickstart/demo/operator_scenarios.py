"""What operators do about charges: with an approval, about unknown outcomes, and against stolen cards."""

from datetime import timedelta
from typing import Any

from payments.domain.approvals import decide, execution, request
from payments.domain.risk import blocks
from payments.models import Block, Correction, OperatorAction
from payments.providers.simulator import books
from payments.quickstart.demo.sales import Sale
from payments.quickstart.demo.scenarios import (
    ANSWER_LOST,
    DIRECT,
    STOLEN,
    Steps,
    after,
    begin,
    look_up_in_vain,
    paid,
)

REASONS = ("Arrived damaged; photos in the ticket.", "Charged twice, says the payer.", "Trip cancelled by us.")
APPROVED = "Called the merchant: they agree."
BLOCKED, LIFTED = "Chargebacks at other shops.", "It was the owner after all; the bank confirmed."
EVIDENCE = "The provider's portal shows it as paid, under the reference given; screenshot in the shared folder."
CONFIRMED = "Looked it up in the portal myself."


def refund_approved(sale: Sale) -> Steps:
    """Request a refund of the whole as the operator who has no limit, and have another one approve it."""
    yield from paid(sale)
    yield after(days=sale.random.uniform(0.2, 20))
    action = _request_refund(sale)
    yield after(minutes=sale.random.uniform(5, 300))
    decide.approve(action, sale.shop.operators[1], APPROVED)
    # A whole year may be one transaction.
    execution.execute(action)
    sale.reload()


def refund_requested(sale: Sale) -> Steps:
    yield from begin(sale, "card", DIRECT)
    yield after(minutes=sale.random.uniform(5, 30))
    _request_refund(sale)


def corrected(sale: Sale) -> Steps:
    yield from begin(sale, "card", ANSWER_LOST)
    yield from look_up_in_vain(sale, hours=5)
    correction = _propose(sale)
    yield after(minutes=sale.random.uniform(5, 50))
    decide.approve(correction, sale.shop.operators[1], CONFIRMED)


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


def _request_refund(sale: Sale) -> OperatorAction:
    """Request a refund of the whole, which the operator may not make alone; return the request."""
    action = OperatorAction(
        charge=sale.charge,
        kind=OperatorAction.Kind.REFUND,
        amount=sale.purchase.amount,
        reason=sale.random.choice(REASONS),
        proposed_by=sale.shop.operators[2],
    )
    request.submit(action)
    return action


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
