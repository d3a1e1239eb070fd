"""The provider of a payout, and what it is asked."""

import logging
from uuid import UUID

from payments.connections import release_connection
from payments.db.writes import StaleRow
from payments.domain import bulkheads, provider_calls
from payments.domain.payouts.schedules import number_of
from payments.domain.routing.provider_accounts import connected
from payments.failpoints import Failpoint, reached
from payments.ids import public_id
from payments.models import Payout, PayoutAccount, ProviderAccount
from payments.providers import registry
from payments.providers.base import NotSent, PayoutOutcome, PaysOut, Provider, Unknown
from payments.providers.payouts import PayoutOrder

logger = logging.getLogger("kaha.payouts")


def obstacle(account: PayoutAccount, provider_account: ProviderAccount) -> str:
    """Return why the provider of `provider_account` cannot pay out to the bank `account`; empty where it can.

    For operators who choose either of them. It is checked again when a payout is sent.
    """
    connector = registry.CONNECTORS.get(provider_account.provider)
    if connector is None or connector.payout_obstacle is None:
        return f"{provider_account.provider.title()} makes no payouts: use a bank file."
    return connector.payout_obstacle(account.bic, account.currency)


def ask(payout: Payout, *, sends: bool) -> PayoutOutcome:
    """Send a claimed payout, or look it up; return what its provider says. Raise ProviderBusy, where nothing was asked.

    Raise StaleRow where it is to be sent, and another process has claimed it meanwhile. The account's number is opened
    for the call only. An exception of the connector is an unknown outcome.
    """
    try:
        provider, order = _provider_of(payout, sends), _order(payout, sends)
    except Exception as error:
        logger.exception("payout could not be prepared", extra={"payout": public_id("po", payout.id)})
        return NotSent(type(error).__name__)
    if not isinstance(provider, PaysOut):
        return NotSent("The provider account takes no payouts now.")
    place = _place_of(payout)
    with bulkheads.provider_place(*place):
        if sends and not Payout.objects.filter(id=payout.id, due_at=payout.due_at).exists():
            raise StaleRow
        release_connection()
        return _called(provider, place[0], order, sends)


def _called(provider: PaysOut, name: str, order: PayoutOrder, sends: bool) -> PayoutOutcome:
    operation, question = ("payout", provider.create_payout) if sends else ("find_payout", provider.find_payout)
    reached(Failpoint.ASKING)
    try:
        outcome = provider_calls.ask(name, operation, lambda: question(order))
    except Exception as error:
        logger.exception("provider call broke", extra={"reference": order.reference})
        outcome = Unknown(type(error).__name__)
    reached(Failpoint.ANSWERED)
    return outcome


def _provider_of(payout: Payout, sends: bool) -> Provider | None:
    """Return the provider; None where its account is disabled and something is to be sent."""
    account = payout.provider_account
    if not payout.livemode:
        return registry.provider_named(registry.SIMULATOR)
    assert account is not None  # nosec B101 # for the type checker: a constraint says so
    return connected(account) if account.enabled or not sends else None


def _place_of(payout: Payout) -> tuple[str, UUID]:
    account = payout.provider_account
    if payout.livemode and account is not None:
        return account.provider, account.id
    return registry.SIMULATOR, payout.merchant_id


def _order(payout: Payout, sends: bool) -> PayoutOrder:
    account = payout.account
    return PayoutOrder(
        reference=payout.id.hex,
        amount=payout.amount,
        currency=payout.currency,
        bic=account.bic,
        holder=account.holder if sends else "",
        number=number_of(account) if sends else "",
        description=f"Payout {public_id('po', payout.id)}",
        provider_ref=payout.provider_ref,
    )
