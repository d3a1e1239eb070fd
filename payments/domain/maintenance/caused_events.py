"""What a bank or a person does about payouts in test mode, when a merchant's test key asks for it."""

from collections.abc import Callable
from dataclasses import replace

from django.db import transaction

from payments import context
from payments.context import Actor
from payments.db.writes import execute_writes
from payments.domain.catalogue import event_types
from payments.domain.catalogue.error_table import EVENT_NOT_POSSIBLE
from payments.domain.payouts import make, outcomes, states
from payments.domain.payouts.accounts import Details, add_account, withdraw
from payments.domain.payouts.schedules import number_of
from payments.domain.shared import idempotency
from payments.domain.shared.caller import Caller
from payments.domain.shared.errors import conflict
from payments.domain.shared.idempotency import StoredAnswer
from payments.ids import public_id
from payments.models import Event, Merchant, Payout, PayoutAccount, PayoutSchedule
from payments.providers.simulator.connector import Simulator
from payments.vault import with_prefetched_keys

NUMBER = "000123456789"
DETAILS = Details("PHP", "Test Account", "BNORPHMM")


@with_prefetched_keys
@transaction.atomic
def cause(caller: Caller, event_type: str, render: Callable[[Event], StoredAnswer]) -> StoredAnswer:
    """Do what causes an event of this type, one of CAUSES, in test mode; return the answer that shows the event.

    Raise PaymentError `event_not_possible`, and Replay and PaymentError as `idempotency.claim` does.
    """
    record = idempotency.claim(caller)
    # As the test clock does first: two acts at once would wait for each other's rows.
    merchant = Merchant.objects.select_for_update(no_key=True).get(id=caller.merchant_id)
    # The audit log names the key.
    token = context.actor.set(
        lambda: Actor(public_id("key", caller.key_id) if caller.key_id else "", caller.request.address)
    )
    try:
        row = CAUSES[event_type](merchant)
    finally:
        context.actor.reset(token)
    event = Event.objects.of(caller.merchant_id, livemode=False).filter(type=event_type, object_id=row.id)
    answer = render(event.latest("sequence"))
    if record:
        execute_writes(idempotency.answered(record.id, record.merchant_id, answer))
    return answer


def _refuse(merchant: Merchant) -> Payout:
    """Have the simulated bank refuse the newest payout that it has, or return it."""
    there = [Payout.Status.IN_TRANSIT, Payout.Status.PAID]
    payouts = Payout.objects.of(merchant.id, livemode=False).filter(status__in=there).order_by("-id")
    # A worker may look it up now.
    payout = payouts.select_for_update(no_key=True).first()
    if payout is None:
        raise conflict(EVENT_NOT_POSSIBLE)
    return outcomes.record(payout, Simulator().refuse_payout(payout.id.hex))


def _cancel(merchant: Merchant) -> Payout:
    """Make a payout of what is available, and cancel it as an operator does."""
    schedule = PayoutSchedule.objects.of(merchant.id, livemode=False).order_by("currency").first()
    try:
        if schedule:
            return states.cancel(make.make_now(schedule.id))
        why = "The merchant has no schedule of payouts in test mode."
    except make.NothingToPay as nothing:
        why = f"{nothing} What came back with a failed payout is there at once."
    raise conflict(EVENT_NOT_POSSIBLE, why)


def _add(merchant: Merchant, waits: bool = False) -> PayoutAccount:
    """Add the bank account of the merchant's test payouts again, or a first one."""
    own = PayoutAccount.objects.of(merchant.id, livemode=False).order_by("created_at").last()
    details = replace(DETAILS, currency=own.currency, holder=own.holder, bic=own.bic) if own else DETAILS
    return add_account(merchant, False, details, number_of(own) if own else NUMBER, waits=waits)


def _withdraw(merchant: Merchant) -> PayoutAccount:
    """Add a bank account that waits for its day, and withdraw it."""
    account = _add(merchant, waits=True)
    withdraw(account)
    return account


CAUSES: dict[str, Callable[[Merchant], Payout | PayoutAccount]] = {
    event_types.PAYOUT_FAILED: _refuse,
    event_types.PAYOUT_CANCELLED: _cancel,
    event_types.PAYOUT_ACCOUNT_CREATED: _add,
    event_types.PAYOUT_ACCOUNT_UPDATED: _withdraw,
}
