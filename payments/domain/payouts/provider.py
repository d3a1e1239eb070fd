"""The provider of a payout, and what it is asked."""

import logging
from uuid import UUID

from payments.db.writes import StaleRow
from payments.domain import provider_calls
from payments.domain.payouts.schedules import number_of
from payments.domain.provider_calls import ProviderCall
from payments.domain.routing.provider_accounts import connected
from payments.ids import public_id
from payments.models import Payout, PayoutAccount, ProviderAccount
from payments.providers import registry
from payments.providers.abilities import PaysOut
from payments.providers.base import NotSent, PayoutOutcome, Provider
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
        client, order = _provider_of(payout, sends), _order(payout, sends)
    except Exception as error:
        logger.exception("payout could not be prepared", extra={"payout": public_id("po", payout.id)})
        return NotSent(type(error).__name__)
    if not isinstance(client, PaysOut):
        return NotSent("The provider account takes no payouts now.")
    if sends and not Payout.objects.filter(id=payout.id, due_at=payout.due_at).exists():
        raise StaleRow
    call = ProviderCall(*_place_of(payout), "payout" if sends else "find_payout", order.reference)
    if sends:
        return provider_calls.ask(call, lambda: client, lambda provider: provider.create_payout(order))
    return provider_calls.ask(call, lambda: client, lambda provider: provider.find_payout(order))


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
