"""What happens to charges: each scenario takes a sale and yields the moments at which it continues."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from payments import clock, sourcetypes
from payments.domain.charging import expiry
from payments.providers.simulator import books
from payments.providers.simulator.scenarios import (
    ANSWER_LOST,
    DIRECT,
    ORDINARY,
    OTHER_BRANDS,
    REFUNDS_RETURN,
    REFUNDS_WAIT,
    declined_with,
    numbers_of,
)
from payments.quickstart.demo.sales import Sale
from payments.quickstart.demo.shops import pick

Steps = Iterator[datetime]
Scenario = Callable[[Sale], Steps]

CHALLENGED = (*numbers_of(ORDINARY), *numbers_of(OTHER_BRANDS))
STOLEN = declined_with("stolen_card")
DECLINED = (
    (declined_with("insufficient_funds"), 45),
    (declined_with("card_declined"), 25),
    (declined_with("incorrect_cvc"), 12),
    (declined_with("expired_card"), 8),
    (declined_with("processing_error"), 5),
    (declined_with("lost_card"), 2),
    (STOLEN, 3),
)
# How Filipinos pay; other currencies come by card.
TYPES = (
    *(("card", 44), ("gcash", 27), ("maya", 8), ("qrph", 6), ("grabpay", 3), ("bpi", 3), ("unionbank", 2)),
    *(("instapay", 2), ("bdo", 1.5), ("paymaya", 1), ("pesonet", 0.5), ("rcbc", 0.5), ("alipay", 0.5)),
    *(("wechat", 0.5), ("unionpay", 0.5)),
)


def after(**duration: float) -> datetime:
    """Return the moment that is so much later than now."""
    return clock.now() + timedelta(**duration)


def begin(sale: Sale, source_type: str, number: str, *, hold: bool = False) -> Steps:
    sale.create_source(source_type, number)
    yield after(seconds=sale.random.uniform(0.3, 20))
    sale.create_charge(hold=hold)


def paid(sale: Sale) -> Steps:
    source_type = pick(sale.random, TYPES) if sale.purchase.currency == "PHP" else sourcetypes.CARD
    yield from begin(sale, source_type, _good_card(sale))
    yield from _pay(sale)


def awaiting(sale: Sale) -> Steps:
    yield from begin(sale, "card", sale.random.choice(CHALLENGED))


def abandoned(sale: Sale) -> Steps:
    yield from awaiting(sale)
    yield after(minutes=books.PAGE_MINUTES, seconds=1)
    sale.receive_message()


def declined(sale: Sale) -> Steps:
    yield from begin(sale, "card", pick(sale.random, DECLINED))


def voided(sale: Sale) -> Steps:
    yield from paid(sale)
    assert sale.charge.settle_due_at  # nosec B101 # for the type checker
    # A captured charge is voided before it is settled at midnight; a charge of the last minutes of a day stays.
    left = (sale.charge.settle_due_at - clock.now()) / timedelta(minutes=1)
    if left > 5:
        yield after(minutes=sale.random.uniform(1, min(left - 2, 300)))
        sale.void()


def refunded(sale: Sale) -> Steps:
    yield from paid(sale)
    yield after(days=sale.random.uniform(0.1, 20))
    sale.refund()


def part_refunded(sale: Sale) -> Steps:
    yield from paid(sale)
    for _ in range(sale.random.choice((1, 1, 2))):
        yield after(days=sale.random.uniform(0.1, 15))
        sale.refund(max(1, sale.purchase.amount // sale.random.choice((3, 4, 5, 10))))


def refund_returned(sale: Sale) -> Steps:
    yield from begin(sale, "card", REFUNDS_RETURN)
    yield after(days=sale.random.uniform(0.1, 10))
    sale.refund()
    yield after(days=sale.random.uniform(0.5, 4))
    sale.receive_message()


def refund_pending(sale: Sale) -> Steps:
    yield from begin(sale, "card", REFUNDS_WAIT)
    yield after(minutes=20)
    sale.refund()
    sale.delay_refund(timedelta(days=5))
    yield from look_up_when_due(sale)


def hold(sale: Sale) -> Steps:
    yield from begin(sale, "card", _good_card(sale), hold=True)
    yield from _pay(sale)


def part_captured(sale: Sale) -> Steps:
    yield from hold(sale)
    yield after(hours=sale.random.uniform(2, 140))
    sale.capture(max(1, sale.purchase.amount * sale.random.randint(40, 95) // 100))


def hold_expired(sale: Sale) -> Steps:
    yield from hold(sale)
    assert sale.charge.hold_expires_at  # nosec B101 # for the type checker
    yield sale.charge.hold_expires_at + timedelta(seconds=10)
    expiry.void_expired_holds(scope=sale.shop.scope)


def found_approved(sale: Sale) -> Steps:
    yield from begin(sale, "card", ANSWER_LOST)
    yield after(seconds=6)
    sale.look_up()


def unknown(sale: Sale) -> Steps:
    yield from begin(sale, "card", ANSWER_LOST)
    yield from look_up_in_vain(sale)


def vaulted(sale: Sale) -> Steps:
    """Charge a vaulted card: mostly one from before, else one of a new customer."""
    known = sale.shop.vaulted
    if known and sale.random.random() < 0.75:
        sale.source_id = sale.random.choice(known)
    else:
        sale.create_source("card", DIRECT)
        yield after(seconds=sale.random.uniform(0.3, 20))
        sale.vault_source()
        known.append(sale.source_id)
    sale.create_charge()


def look_up_when_due(sale: Sale) -> Steps:
    """Look the latest attempt up whenever it is due, until its outcome is final."""
    while due_at := sale.attempt.due_at:
        yield due_at
        sale.look_up()


def look_up_in_vain(sale: Sale, hours: float = 24 * 365) -> Steps:
    """Look the attempt up for so many hours, without an answer from the provider."""
    end = after(hours=hours)
    while (due_at := sale.attempt.due_at) and due_at < end:
        yield due_at
        sale.look_up_in_vain()


def _good_card(sale: Sale) -> str:
    return sale.random.choice((DIRECT, DIRECT, *CHALLENGED))


def _pay(sale: Sale) -> Steps:
    if sale.charge.action:
        yield after(seconds=sale.random.uniform(8, 300))
        sale.pay()
