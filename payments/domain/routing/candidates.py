"""By which account a charge is asked for: the merchant's routes in live mode, the simulator in test mode."""

import logging
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet

from payments import sourcetypes
from payments.domain import bulkheads
from payments.domain.errors import invalid, unavailable
from payments.domain.routing import circuit_breaker
from payments.domain.routing.circuit_breaker import Health, health_of
from payments.domain.routing.provider_accounts import connected
from payments.models import Attempt, Route
from payments.providers import registry
from payments.providers.base import Capabilities, Provider
from payments.vault import VaultError

logger = logging.getLogger("kaha.routing")


@dataclass(frozen=True, slots=True)
class Way:
    """How a provider is reached: by a route, or by none where it is the simulator; `why` tells operators."""

    provider: Provider
    route: Route | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Taker:
    """A way that takes a source type, and what it can do with it."""

    way: Way
    capabilities: Capabilities

    def takes(self, amount: int, currency: str) -> bool:
        route = self.way.route
        is_routed = route is None or (
            route.currency in ("", currency) and (route.amount_min or amount) <= amount <= (route.amount_max or amount)
        )
        return is_routed and self.capabilities.takes(amount, currency)

    @property
    def health(self) -> Health:
        return health_of(getattr(self.way.route, "recent", ()))


def ways(merchant_id: UUID, livemode: bool, source_type: str, amount: int, currency: str, hold: bool) -> list[Way]:
    """The ways by which this may be asked for, in the order in which they are to be tried; at least one.

    Raise PaymentError for one that nobody takes, and where the providers of all of them are out.
    """
    takers = _takers(merchant_id, livemode, source_type)
    if not takers:
        raise invalid("source_type_unavailable", "source", "No provider takes this type of source in this mode.")
    if hold and not (takers := [taker for taker in takers if taker.capabilities.hold]):
        raise invalid("invalid_choice", "capture", "Only a card can be held; this source is captured at once.")
    if not (takers := [taker for taker in takers if taker.takes(amount, currency)]):
        raise invalid("invalid_choice", "amount", "No provider takes this amount in this currency for this source.")
    return _awake(takers)


def is_available(merchant_id: UUID, livemode: bool, source_type: str) -> bool:
    """Whether there is a way for charges on this source type."""
    return bool(_takers(merchant_id, livemode, source_type))


def available_types(merchant_id: UUID) -> set[str]:
    """The source types that the merchant's routes take in live mode."""
    return {taker.way.route.source_type for taker in _routed(_routes(merchant_id)) if taker.way.route}


def to_simulator() -> Way:
    """The way of everything in test mode."""
    return Way(registry.provider_named(registry.SIMULATOR))


def way_of(attempt: Attempt) -> Way:
    """The way by which `attempt` went, for what follows from it."""
    return Way(provider_of(attempt), attempt.route)


def provider_of(attempt: Attempt) -> Provider:
    """The provider that `attempt` asks. Raises KeyError where it is not installed, VaultError, VaultUnavailable."""
    return connected(attempt.account) if attempt.account else registry.provider_named(attempt.provider)


def take_place(place: ExitStack, way: Way, merchant_id: UUID) -> None:
    """Hold a place to ask by `way` until `place` is closed, in place of what it held. Raises ProviderBusy."""
    place.close()
    account_id = way.route.account_id if way.route else merchant_id
    place.enter_context(bulkheads.provider_place(way.provider.name, account_id))


def take_first_place(place: ExitStack, ways: list[Way], merchant_id: UUID) -> list[Way]:
    """Return `ways` from the first on that has a place, which is then held. Raises ProviderBusy."""
    for number, way in enumerate(ways[:-1]):
        with suppress(bulkheads.ProviderBusy):
            take_place(place, way, merchant_id)
            return _from(ways, number)
    take_place(place, ways[-1], merchant_id)
    return _from(ways, len(ways) - 1)


def _from(ways: list[Way], number: int) -> list[Way]:
    """The ways from this one on; those before it had no place free."""
    if not number:
        return ways
    why = f"too many requests wait for the {number} before it"
    return [replace(ways[number], why=why), *ways[number + 1 :]]


def capabilities_of(way: Way, source_type: str) -> Capabilities | None:
    """What can be done with a source type by this way: what its provider can do, as far as the route lets it."""
    capabilities, route = way.provider.capabilities(source_type), way.route
    if capabilities is None or route is None:
        return capabilities
    return replace(
        capabilities,
        hold=capabilities.hold and route.hold,
        refund=capabilities.refund and route.refund,
        partial_refund=capabilities.partial_refund and route.partial_refund,
    )


def _takers(merchant_id: UUID, livemode: bool, source_type: str) -> list[Taker]:
    if livemode:
        found = _routes(merchant_id).filter(source_type=source_type).annotate(recent=circuit_breaker.recent_attempts())
        return list(_routed(found))
    way = to_simulator()
    capabilities = way.provider.capabilities(source_type)
    return [Taker(way, capabilities)] if capabilities else []


def _routes(merchant_id: UUID) -> QuerySet[Route]:
    own = {"account__merchant_id": merchant_id, "account__livemode": True}
    rows = Route.objects.filter(**own, enabled=True, account__enabled=True)
    if not settings.LIVE_CARDS_ATTESTED:
        rows = rows.exclude(source_type=sourcetypes.CARD)
    # A connector that is not installed any more takes nothing, and what went by it is for operators to see.
    rows = rows.filter(account__provider__in=list(registry.CONNECTORS))
    return rows.select_related("account").order_by("position", "id")


def _routed(routes: Iterable[Route]) -> Iterable[Taker]:
    for route in routes:
        try:
            way = Way(connected(route.account), route)
        except VaultError:
            # One account whose credentials are damaged must not keep charges from the others.
            logger.exception("an account's credentials do not open", extra={"account": route.account.public_id})
            continue
        if capabilities := capabilities_of(way, route.source_type):
            yield Taker(way, capabilities)


def _awake(takers: list[Taker]) -> list[Way]:
    """The ways of those that do not rest. Raises PaymentError where all do."""
    resting = [taker.health.rests_seconds for taker in takers]
    if all(resting):
        raise unavailable(min(resting))
    awake = [taker.way for taker, seconds in zip(takers, resting, strict=True) if not seconds]
    first = replace(awake[0], why=_why(len(takers), len(takers) - len(awake))) if awake[0].route else awake[0]
    return [first, *awake[1:]]


def _why(routes: int, resting: int) -> str:
    if routes == 1:
        return "the only route that takes it"
    return f"the first of {routes} routes that take it" + (f", {resting} of which rest" if resting else "")
