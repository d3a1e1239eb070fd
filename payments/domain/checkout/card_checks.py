"""Checks of cards that a session keeps and does not charge: their issuers are asked to approve a payment of nothing.

A check is on record in its session before a provider is asked; the session waits for its outcome, and a worker looks an
unknown one up. A provider that cannot check keeps the card as one that was never checked.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from random import SystemRandom
from typing import Any

from django.db import transaction

from payments import clock, sourcetypes
from payments.db.writes import StaleRow, Update, Write, execute_writes
from payments.domain import provider_calls
from payments.domain.bulkheads import ProviderBusy
from payments.domain.cards.card_data import card_data
from payments.domain.charging import attempts, sources
from payments.domain.charging.changes import named_by_network
from payments.domain.charging.checkouts import checkout_progress
from payments.domain.charging.checkouts.checkout_progress import CheckoutAttempt
from payments.domain.due_rows import DueRows
from payments.domain.provider_calls import Call
from payments.domain.risk import card_testing
from payments.domain.risk.blocks import USUAL_DECLINE_SECONDS, BlockedProvider
from payments.domain.routing import candidates
from payments.domain.routing.provider_accounts import connected
from payments.domain.shared.caller import Caller
from payments.domain.shared.customers import customers
from payments.domain.shared.errors import PaymentError, conflict, unavailable
from payments.models import Card, Checkout, ProviderAccount, Source
from payments.providers import registry
from payments.providers.base import (
    ActionRequired,
    Approved,
    Declined,
    NotFound,
    NotSent,
    OnFile,
    Outcome,
    Payment,
    Pending,
    Rejected,
    Unknown,
)
from payments.providers.references import check_reference
from payments.rendering.objects.checkout import payment_url
from payments.sweeps.scope import ALL_MERCHANTS, Scope

logger = logging.getLogger("kaha.card_checks")

BATCH = 20
DUE = DueRows(lease=timedelta(minutes=3), due="check_due_at", same=("merchant_id", "state", "attempts"))
SOONEST, LATEST = timedelta(seconds=5), timedelta(hours=1)
OVER = {"check_source_id": None, "check_account_id": None, "check_due_at": None}
NUMBER_DESTROYED = {"sealed_number": None, "number_expires_at": None, "sealed_cvc": None, "cvc_expires_at": None}
State = Checkout.State


class CardDeclined(Exception):
    """The issuer does not approve the card; `code` is one of `failure_data`."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def check(caller: Caller, checkout: Checkout, source_id: str, attempt: CheckoutAttempt) -> None:
    """Have the card of a new source checked, and keep it for the checkout's customer; `source_id` is its public ID.

    While the outcome is unknown, the checkout waits. Raise CardDeclined, VaultUnavailable, and PaymentError where the
    checkout is over, too many cards were declined, no provider can be asked, or the customer takes no more sources.
    """
    card_testing.refuse_card_testing(caller, source_id)
    source = sources.find_chargeable(caller, source_id)
    via = candidates.route_to_check(caller.merchant_id, caller.livemode, checkout.currency)
    deadline = attempts.call_deadline(via.provider) if via else clock.now() + DUE.lease
    account_id = via.route.account_id if via and via.route else None
    begun = checkout_progress.begin(
        attempt, check_source_id=source.id, check_account_id=account_id, check_due_at=deadline
    )
    try:
        execute_writes(begun)
    except StaleRow:
        raise checkout_progress.not_payable() from None
    vars(checkout).update(begun.values)
    if via is None:
        _keep(caller, checkout, source, None)
        return
    is_blocked = getattr(source, "block_id", None) is not None
    # The simulator waits by itself.
    seconds = SystemRandom().uniform(*USUAL_DECLINE_SECONDS) if via.route else 0
    asked: Any = BlockedProvider(via.provider, seconds) if is_blocked else via.provider
    payment = _payment(checkout, source)
    try:
        outcome = _ask(
            checkout,
            via.provider.name,
            asked,
            lambda provider: provider.create_payment(payment),
            is_counted=not is_blocked,
        )
    except ProviderBusy:
        outcome = NotSent("busy")
    card_testing.count(caller, source.card, outcome)
    # A worker that was faster has recorded it.
    with suppress(StaleRow):
        _record(caller, checkout, source, outcome)


def resolve_due(limit: int = BATCH, scope: Scope = ALL_MERCHANTS) -> int:
    """Look up at most `limit` checks whose outcome is unknown; return how many."""
    waiting = Checkout.objects.whole().filter(scope.within(), check_due_at__isnull=False)
    count = 0
    while count < limit and (claimed := DUE.claim(waiting)):
        _resolve_alone(*claimed)
        count += 1
    return count


def _resolve_alone(checkout: Checkout) -> None:
    """Look one check up and record its outcome; its failure does not stop the others."""
    caller = Caller(checkout.merchant_id, checkout.livemode)
    try:
        own = Source.objects.select_related("card").filter(merchant_id=caller.merchant_id)
        source = own.get(id__in=[checkout.check_source_id])
        outcome = _looked_up(checkout, source)
        if isinstance(outcome, Unknown | Pending | NotSent | Rejected):
            _put_off(caller, checkout, source)
        else:
            with suppress(PaymentError, CardDeclined, StaleRow):
                _record(caller, checkout, source, outcome)
    except ProviderBusy:
        _put_off(caller, checkout, source)
    except Exception:
        logger.exception("card check could not be resolved", extra={"checkout": str(checkout)})


def _looked_up(checkout: Checkout, source: Source) -> Outcome | None:
    """Return the outcome at the provider that was asked; None where none was."""
    if checkout.livemode and checkout.check_account_id is None:
        return None
    provider = registry.provider_named(registry.SIMULATOR)
    if account_id := checkout.check_account_id:
        provider = connected(ProviderAccount.objects.get(id=account_id))
    payment = _payment(checkout, source)
    return _ask(checkout, provider.name, provider, lambda provider: provider.resolve(payment))


def _put_off(caller: Caller, checkout: Checkout, source: Source) -> None:
    """Look a check up again as much later as it is old; give it up with its session, for it moves no money."""
    now = clock.now()
    if checkout.expires_at and checkout.expires_at <= now:
        with suppress(StaleRow):
            _give_up(caller, checkout, source, State.EXPIRED)
    else:
        DUE.put_off(checkout, until=now + min(max(now - checkout.updated_at, SOONEST), LATEST))


def _ask(
    checkout: Checkout, name: str, client: Any, question: Callable[[Any], Outcome], is_counted: bool = True
) -> Outcome:
    """Return what the provider `name` answers by its `client`; raise ProviderBusy, where it was not asked."""
    reference = check_reference(checkout.check_source_id) if checkout.check_source_id else ""
    account_id = checkout.check_account_id or checkout.merchant_id
    call = Call(name, account_id, "check", reference, is_counted=is_counted)
    return provider_calls.ask(call, lambda: client, question)


def _payment(checkout: Checkout, source: Source) -> Payment:
    """Return the payment of nothing that checks a card, which the payer is not asked to confirm."""
    card: Card = source.card
    return Payment(
        reference=check_reference(source.id),
        amount=0,
        currency=checkout.currency,
        source_type=sourcetypes.CARD,
        capture=False,
        authenticate=False,
        return_url=f"{payment_url(checkout)}/done",
        description="",
        statement_descriptor=checkout.merchant.statement_descriptor,
        card=card_data(card) if card.sealed_number else None,
        on_file=OnFile.TO_BE_KEPT,
        asked_at=checkout.updated_at,
        payer=attempts.payer_of(source),
    )


def _record(caller: Caller, checkout: Checkout, source: Source, outcome: Outcome | None) -> None:
    match outcome:
        case None | Approved():
            _keep(caller, checkout, source, outcome)
        case Unknown() | Pending():
            # A worker looks it up.
            return
        case NotSent() | NotFound():
            _give_up(caller, checkout, source, State.UNPAID)
            raise unavailable()
        case Declined(code=code):
            _give_up(caller, checkout, source, State.UNPAID)
            raise CardDeclined(code)
        case _:
            _give_up(caller, checkout, source, State.UNPAID)
            is_asked = isinstance(outcome, ActionRequired)
            raise CardDeclined("authentication_required" if is_asked else "processing_error")


def _keep(caller: Caller, checkout: Checkout, source: Source, approved: Approved | None) -> None:
    """Complete the checkout and keep the card for its customer. Raise PaymentError where it takes no more sources."""
    assert checkout.customer_id is not None  # nosec B101 # for the type checker: it was found or made before
    values: dict[str, Any] = {"checked_at": clock.now(), "cvc_checked": approved.cvc_checked} if approved else {}
    if approved and named_by_network(approved):
        values |= {"network_reference": approved.network_reference}
    vars(source.card).update(values)
    kept = customers().keep(caller, checkout.customer_id, source)
    if not kept:
        _give_up(caller, checkout, source, State.UNPAID)
        raise conflict("too_many_sources", "No more cards can be kept for this customer.")
    with transaction.atomic():
        execute_writes(*checkout_progress.move(caller, checkout, State.PAID, **OVER), *kept)
        if values:
            # In a statement of its own, for the one before writes this row too.
            execute_writes(_card_write(source, values))


def _give_up(caller: Caller, checkout: Checkout, source: Source, state: State) -> None:
    """Move the checkout on without the card, whose number and CVC are destroyed."""
    moved = checkout_progress.move(caller, checkout, state, **OVER)
    execute_writes(*moved, _card_write(source, NUMBER_DESTROYED))


def _card_write(source: Source, values: dict[str, Any]) -> Write:
    card: Card = source.card
    return Update(Card, {"id": card.id, "merchant_id": card.merchant_id}, values)
