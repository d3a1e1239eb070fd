"""Checks of cards that a session keeps and does not charge: their issuers are asked to approve a payment of nothing.

A check is on record in its session before a provider is asked; the session waits for its outcome, and a worker looks an
unknown one up. Where the issuer asks the payer first, the session has the address of its page, and the provider is
asked again when the payer comes back. A provider that cannot check keeps the card as one that was never checked.
"""

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from random import SystemRandom
from typing import Any

from django.conf import settings

from customers.domain import checkout as customers
from payments import clock, sourcetypes
from payments.db.writes import StaleRow, Update, execute_writes
from payments.domain import prepared_reads, provider_calls, sources
from payments.domain.bulkheads import ProviderBusy
from payments.domain.cards.card_data import card_data
from payments.domain.catalogue.error_table import TOO_MANY_SOURCES
from payments.domain.charging import attempts, late_outcomes
from payments.domain.charging.changes import named_by_network, refused
from payments.domain.charging.checkouts import checkout_progress
from payments.domain.charging.checkouts.checkout_progress import CheckoutAttempt
from payments.domain.due_rows import DueRows
from payments.domain.provider_calls import ProviderCall
from payments.domain.risk import card_testing
from payments.domain.risk.blocks import USUAL_DECLINE_SECONDS, BlockedProvider
from payments.domain.routing import candidates
from payments.domain.routing.provider_accounts import connected
from payments.domain.shared.caller import Caller
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
from payments.providers.failure_data import NOT_REACHED, failure_data
from payments.providers.references import check_reference, is_check, source_of_check
from payments.rendering.objects.checkout import payment_url
from payments.sweeps.scope import ALL_MERCHANTS, Scope

logger = logging.getLogger("kaha.card_checks")

BATCH = 20
DUE = DueRows(lease=timedelta(minutes=3), due="check_due_at", same=("merchant_id", "state", "attempts"))
SOONEST, LATEST = timedelta(seconds=5), timedelta(hours=1)
OVER = {"check_due_at": None, "check_url": ""}
State = Checkout.State
# Asks a provider about the payment that checks a card.
Question = Callable[[Any, Payment], Outcome]


def check(caller: Caller, checkout: Checkout, order: dict[str, Any], attempt: CheckoutAttempt) -> None:
    """Have the card of a new source, made of its `order`, checked, and keep it for the checkout's customer.

    While the outcome is unknown, the checkout waits; while the payer is to be asked, it has a `check_url`. Declined, it
    has a `check_code`. Raise VaultUnavailable, and PaymentError where the checkout is over, too many cards were
    declined, no provider can be asked, or the customer takes no more sources.
    """
    card_testing.refuse_card_testing(caller, order)
    source, made = sources.take(caller, order)
    via = candidates.route_to_check(caller.merchant_id, caller.livemode, checkout.currency)
    begun = checkout_progress.begin(
        attempt,
        check_source_id=source.id,
        check_account_id=via.route.account_id if via and via.route else None,
        check_due_at=attempts.call_deadline(via.provider) if via else clock.now() + DUE.lease,
        check_code="",
    )
    try:
        execute_writes(begun, *made)
    except StaleRow:
        raise checkout_progress.not_payable() from None
    vars(checkout).update(begun.values)
    if via is None:
        _record(caller, checkout, source, _unchecked(source))
        return
    is_blocked = getattr(source, "block_id", None) is not None
    # The simulator waits by itself.
    seconds = SystemRandom().uniform(*USUAL_DECLINE_SECONDS) if via.route else 0
    client: Any = BlockedProvider(via.provider, seconds) if is_blocked else via.provider
    outcome = _ask(checkout, source, client, lambda provider, payment: provider.create_payment(payment), is_blocked)
    # A worker that was faster has recorded it.
    with suppress(StaleRow):
        _record(caller, checkout, source, outcome)


def continue_check(caller: Caller, checkout: Checkout, params: Mapping[str, str]) -> None:
    """Ask the provider about the check whose payer came back with `params`; the return itself proves nothing."""
    if _claim_from_payer(checkout):
        _resolve_alone(caller, checkout, lambda provider, payment: provider.continue_payment(payment, params))


def give_up(checkout: Checkout) -> None:
    """End the check whose payer came back to choose another card, unless its outcome is there."""
    if _claim_from_payer(checkout):
        _resolve_alone(Caller(checkout.merchant_id, checkout.livemode), checkout, is_given_up=True)


def _claim_from_payer(checkout: Checkout) -> bool:
    """Claim a check that waits for its payer, so that one process asks; return False for any other."""
    return bool(checkout.check_url) and DUE.renew(checkout, check_url="")


def resolve_due(limit: int = BATCH, scope: Scope = ALL_MERCHANTS) -> int:
    """Look up at most `limit` checks whose outcome is unknown, or whose payer did not come; return how many."""
    waiting = Checkout.objects.whole().filter(scope.within(), check_due_at__isnull=False)
    count = 0
    while count < limit and (claimed := DUE.claim(waiting)):
        [checkout] = claimed
        _resolve_alone(Caller(checkout.merchant_id, checkout.livemode), checkout)
        count += 1
    return count


def checkout_of(reference: str) -> Checkout | None:
    """Return the checkout whose last check has this reference; None for a reference of anything else."""
    if not is_check(reference):
        return None
    return Checkout.objects.whole().filter(check_source_id=source_of_check(reference)).first()


def checked_source(checkout: Checkout) -> Source:
    """Return the source whose card was checked last."""
    own = Source.objects.select_related("card").filter(merchant_id=checkout.merchant_id)
    return own.get(id__in=[checkout.check_source_id])


def record_report(checkout: Checkout, outcome: Outcome) -> None:
    """Record what a provider reports of a check. Raise StaleRow where another process records something now.

    After the end of the check only the card network's reference of its approval is news.
    """
    source = checked_source(checkout)
    if checkout.state != State.PAYING:
        late_outcomes.keep_network_reference(source, outcome)
        return
    with suppress(PaymentError):
        _record(Caller(checkout.merchant_id, checkout.livemode), checkout, source, outcome)


def _look_up(provider: Any, payment: Payment) -> Outcome:
    outcome: Outcome = provider.resolve(payment)
    return outcome


def _resolve_alone(
    caller: Caller, checkout: Checkout, question: Question = _look_up, *, is_given_up: bool = False
) -> None:
    """Ask about one check and record its outcome; its failure does not stop the others."""
    try:
        source = checked_source(checkout)
        outcome = _ask_again(checkout, source, question)
        is_over = is_given_up or (checkout.check_url and _action_expires_at(checkout) <= clock.now())
        if is_over and isinstance(outcome, ActionRequired | Pending):
            # It moves no money, whatever the payer does there after it.
            outcome = Declined("payer_cancelled" if is_given_up else "action_expired")
        if isinstance(outcome, Unknown | Pending | NotSent | Rejected):
            _put_off(caller, checkout, source, is_payer_here=is_given_up or question is not _look_up)
        else:
            with suppress(PaymentError, StaleRow):
                _record(caller, checkout, source, outcome)
    except Exception:
        logger.exception("card check could not be resolved", extra={"checkout": str(checkout)})


def _ask_again(checkout: Checkout, source: Source, question: Question) -> Outcome | None:
    """Return the outcome at the provider that was asked; that of `_unchecked` where none was."""
    if checkout.livemode and checkout.check_account_id is None:
        [found] = prepared_reads.source_to_charge(
            merchant_id=checkout.merchant_id, livemode=True, source_id=source.id, address="", now=clock.now()
        )
        return _unchecked(found)
    provider = registry.provider_named(registry.SIMULATOR)
    if account_id := checkout.check_account_id:
        provider = connected(ProviderAccount.objects.get(id=account_id))
    return _ask(checkout, source, provider, question)


def _unchecked(source: Source) -> Declined | None:
    """Return the outcome where no provider checks cards: None keeps the card, unless a block is on its `source`."""
    return Declined("card_declined") if getattr(source, "block_id", None) else None


def _put_off(caller: Caller, checkout: Checkout, source: Source, *, is_payer_here: bool) -> None:
    """Look a check up again as much later as it is old, or soon for a payer who came; give it up with its session."""
    now = clock.now()
    if checkout.expires_at and checkout.expires_at <= now:
        with suppress(StaleRow):
            _give_up(caller, checkout, source, State.EXPIRED)
    else:
        age = timedelta() if is_payer_here else now - checkout.updated_at
        DUE.put_off(checkout, until=now + min(max(age, SOONEST), LATEST))


def _action_expires_at(checkout: Checkout) -> datetime:
    """Return when the payer's time at the issuer's page is over; a check leaves the checkout as it was begun."""
    return checkout.updated_at + timedelta(minutes=settings.ACTION_MINUTES)


def _ask(checkout: Checkout, source: Source, client: Any, question: Question, is_blocked: bool = False) -> Outcome:
    """Return what the provider answers by its `client`; NotSent where it is busy."""
    payment = _payment(checkout, source)
    account_id = checkout.check_account_id or checkout.merchant_id
    call = ProviderCall(client.name, account_id, "check", payment.reference, is_counted=not is_blocked)
    try:
        return provider_calls.ask(call, lambda: client, lambda provider: question(provider, payment))
    except ProviderBusy:
        return NotSent("busy")


def _payment(checkout: Checkout, source: Source) -> Payment:
    """Return the payment of nothing that checks a card."""
    card: Card = source.card
    return Payment(
        reference=check_reference(source.id),
        amount=0,
        currency=checkout.currency,
        source_type=sourcetypes.CARD,
        capture=False,
        authenticate=checkout.order.get("require_auth", True),
        return_url=f"{payment_url(checkout)}/done?attempt={checkout.attempts}",
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
        case ActionRequired(url=url):
            if DUE.put_off(checkout, until=_action_expires_at(checkout), check_url=url):
                checkout.check_url = url
        case NotSent() | NotFound():
            _give_up(caller, checkout, source, State.UNPAID, NOT_REACHED)
            raise unavailable()
        case Declined() | Rejected():
            declined = outcome if isinstance(outcome, Declined) else Declined("processing_error")
            of_card = refused(failure_data(declined)["retry"], clock.now())
            _give_up(caller, checkout, source, State.UNPAID, declined.code, **of_card)
            card_testing.count(caller, source, outcome)
        case other:
            raise ValueError(other)


def _keep(caller: Caller, checkout: Checkout, source: Source, approved: Approved | None) -> None:
    """Complete the checkout and keep the card for its customer. Raise PaymentError where it takes no more sources."""
    assert checkout.customer_id is not None  # nosec B101 # for the type checker: it was found or made before
    card: Card = source.card
    values = sources.kept_card(card)
    if approved:
        values |= {"checked_at": clock.now(), "cvc_checked": approved.cvc_checked}
    if approved and named_by_network(approved):
        values |= {"network_reference": approved.network_reference}
    vars(card).update(values)
    kept = customers.keep(caller, checkout.customer_id, source, False)
    if not kept:
        _give_up(caller, checkout, source, State.UNPAID, "processing_error")
        raise conflict(TOO_MANY_SOURCES, "No more cards can be kept for this customer.")
    moved = checkout_progress.move(caller, checkout, State.PAID, **OVER)
    execute_writes(*moved, *kept, Update(Card, {"id": card.id, "merchant_id": card.merchant_id}, values))


def _give_up(caller: Caller, checkout: Checkout, source: Source, state: State, code: str = "", **of_card: Any) -> None:
    """Move the checkout on without the card, whose number and CVC are destroyed; `code` says why."""
    moved = checkout_progress.move(caller, checkout, state, **OVER, check_code=code)
    execute_writes(*moved, *sources.release(caller, source, **of_card))
