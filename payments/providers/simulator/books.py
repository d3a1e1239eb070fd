"""The simulator's bookings of payments. Every change is an UPDATE guarded by the state it starts from."""

from collections.abc import Collection
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.utils.crypto import constant_time_compare

from payments import clock, sourcetypes
from payments.db.compiled_query import CompiledQuery
from payments.db.writes import Insert, execute_writes_in_savepoint
from payments.providers.base import Payment
from payments.providers.simulator.answers import named_by_network, page_token, payment_outcome, token_digest
from payments.providers.simulator.disputes import first_due_at
from payments.providers.simulator.messages import write_message
from payments.providers.simulator.models import PIN_TRIES, Entry, SimulatedPayment
from payments.providers.simulator.scenarios import NO_FIRST_PAYMENT, Scenario, cvc_checked

State = SimulatedPayment.State
PAGE_MINUTES = 60
RIGHT_PIN = "123456"


def find_payment(reference: str) -> SimulatedPayment | None:
    """Return the payment with our `reference`, after all its deadlines that have passed."""
    payment = _booked.first(reference=reference)
    return _expire_if_due(payment) if payment else None


@CompiledQuery
def _booked(*, reference: str) -> QuerySet[SimulatedPayment]:
    """Return the payment of a reference."""
    return SimulatedPayment.objects.filter(reference=reference)


def find_page(token: str) -> SimulatedPayment | None:
    """Return the payment whose payer's page has this token, after all its deadlines that have passed."""
    payment = SimulatedPayment.objects.filter(token_digest=token_digest(token)).first()
    return _expire_if_due(payment) if payment else None


def book_payment(payment: Payment, scenario: Scenario) -> SimulatedPayment:
    """Books `payment` unless its reference is booked already; returns what the books then hold."""
    row = new_payment(payment, scenario)
    try:
        # Whatever kaha records of it waits for the disk, and for this with it.
        execute_writes_in_savepoint(Insert(row), *map(Insert, approval_entries(row)), quick=True)
    except IntegrityError:
        booked = find_payment(payment.reference)
        if booked is None:
            raise
        return booked
    return row


def new_payment(payment: Payment, scenario: Scenario) -> SimulatedPayment:
    """Build the unsaved row of a payment, as far as its test card decides it."""
    row = SimulatedPayment(
        reference=payment.reference,
        amount=payment.amount,
        currency=payment.currency,
        source_type=payment.source_type,
        capture=payment.capture,
        payer_absent=payment.payer_absent,
        return_url=payment.return_url,
        last4=payment.card.number[-4:] if payment.card else "",
        cvc_checked=cvc_checked(payment.card, scenario),
        refunds=scenario.refunds,
        decline_code=scenario.decline_code or _missing_first(payment, scenario),
        story=scenario.story or "",
    )
    if row.decline_code:
        row.state = State.DECLINED
    elif _asks_payer(payment, scenario):
        row.state = State.AWAITING
        row.token_digest = token_digest(page_token(payment.reference))
        row.expires_at = clock.now() + timedelta(minutes=PAGE_MINUTES)
    else:
        row.state, row.amount_captured = approved(row)
        row.dispute_due_at = first_due_at(row) if row.capture else None
    return row


def _missing_first(payment: Payment, scenario: Scenario) -> str:
    """Return the decline code of a payment without its payer that follows from none with them; empty for any other."""
    is_checked = scenario.needs_first or payment.initiator_stated
    if not (is_checked and payment.payer_absent and payment.card):
        return ""
    first, last4 = named_by_network(payment.network_reference), payment.card.number[-4:]
    rows = SimulatedPayment.objects.filter(last4=last4, payer_absent=False)
    return "" if first and rows.filter(id=first).exists() else NO_FIRST_PAYMENT


def _asks_payer(payment: Payment, scenario: Scenario) -> bool:
    if payment.payer_absent:
        return False
    return payment.source_type != sourcetypes.CARD or (payment.authenticate and scenario.challenges)


def approved(payment: SimulatedPayment) -> tuple[str, int]:
    """State and captured amount of a payment that is approved."""
    if not payment.amount:
        # A check of the card: nothing is held.
        return State.VOIDED, 0
    return (State.CAPTURED, payment.amount) if payment.capture else (State.HELD, 0)


def approval_entries(payment: SimulatedPayment) -> list[Entry]:
    """Build the unsaved entry of a payment if it was approved."""
    if payment.state not in (State.HELD, State.CAPTURED):
        return []
    kind = Entry.Kind.CAPTURE if payment.capture else Entry.Kind.HOLD
    return [Entry(payment=payment, reference=payment.reference, kind=kind, amount=payment.amount)]


def approve(payment: SimulatedPayment, *, send_message: bool) -> None:
    """Approve a payment that still awaits its payer; with `send_message`, leave a message for kaha."""
    state, amount_captured = approved(payment)
    with transaction.atomic():
        due_at = first_due_at(payment) if payment.capture else None
        if _decide(payment, state=state, amount_captured=amount_captured, dispute_due_at=due_at):
            Entry.objects.bulk_create(approval_entries(payment))
            _leave_message(payment, send_message)


def decline(payment: SimulatedPayment, code: str, *, send_message: bool) -> None:
    """Decline a payment that still awaits its payer; with `send_message`, leave a message for kaha."""
    with transaction.atomic():
        if _decide(payment, state=State.DECLINED, decline_code=code):
            _leave_message(payment, send_message)


def enter_pin(payment: SimulatedPayment, pin: str, *, send_message: bool) -> None:
    """Check the payer's one-time PIN: it may be entered again until `PIN_TRIES` were wrong.

    Of several tries at once, made from the same reading of the books, one counts.
    """
    with transaction.atomic():
        rows = SimulatedPayment.objects.filter(id=payment.id, state=State.AWAITING, pin_tries=payment.pin_tries)
        counted = rows.update(pin_tries=F("pin_tries") + 1) == 1
        payment.refresh_from_db()
        if not counted:
            return
        if constant_time_compare(pin, RIGHT_PIN):
            approve(payment, send_message=send_message)
        elif payment.pin_tries == PIN_TRIES:
            decline(payment, "authentication_failed", send_message=send_message)


def expire_due_pages(limit: int, among: Collection[str] | None = None) -> None:
    """Expire up to `limit` payments, all or those of the references `among`, whose payer's time is over."""
    due = SimulatedPayment.objects.filter(state=State.AWAITING, expires_at__lte=clock.now())
    due = due if among is None else due.filter(reference__in=among)
    for payment in due.order_by("expires_at")[:limit]:
        _expire_if_due(payment)


def _expire_if_due(payment: SimulatedPayment) -> SimulatedPayment:
    if payment.is_overdue:
        decline(payment, "action_expired", send_message=True)
    return payment


def _decide(payment: SimulatedPayment, **values: object) -> bool:
    rows = SimulatedPayment.objects.filter(id=payment.id, state=State.AWAITING)
    decided = rows.update(**values) == 1
    payment.refresh_from_db()
    return decided


def _leave_message(payment: SimulatedPayment, send_message: bool) -> None:
    if send_message:
        write_message(payment.reference, payment_outcome(payment))
