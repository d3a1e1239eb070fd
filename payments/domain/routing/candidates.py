"""The routes that a charge may take: the merchant's own in live mode, the simulator in test mode."""

import logging
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet

from payments import sourcetypes
from payments.domain import bulkheads
from payments.domain.catalogue.error_table import INVALID_CHOICE, SOURCE_TYPE_UNAVAILABLE
from payments.domain.routing.provider_accounts import connected
from payments.domain.routing.route_health import Health, health_of, recent_attempts
from payments.domain.shared.errors import invalid, unavailable
from payments.models import Attempt, Route
from payments.providers import registry
from payments.providers.base import Capabilities, Provider
from payments.vault import VaultError

logger = logging.getLogger("kaha.routing")

ONLY_ROUTE = "the only route that takes it"


@dataclass(frozen=True, slots=True)
class ProviderRoute:
    """A provider and the route to it, None for the simulator; `reason` says to operators why it was chosen."""

    provider: Provider
    route: Route | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A route for a source type, and what it can do with it."""

    via: ProviderRoute
    capabilities: Capabilities

    def takes(self, amount: int, currency: str) -> bool:
        return self.takes_within(amount, amount, currency)

    def takes_within(self, smallest: int, largest: int, currency: str) -> bool:
        """Return whether it takes some amount from `smallest` to `largest`."""
        route = self.via.route
        if route is not None:
            smallest, largest = max(smallest, route.amount_min or smallest), min(largest, route.amount_max or largest)
        least, most = self.capabilities.bounds(currency)
        return self.takes_currency(currency) and max(smallest, least) <= min(largest, most)

    def takes_currency(self, currency: str) -> bool:
        """Return whether the route is one for this currency; the provider may take it or not."""
        return self.via.route is None or self.via.route.currency in ("", currency)

    @property
    def health(self) -> Health:
        return health_of(getattr(self.via.route, "recent", ()))


def routes_for(
    merchant_id: UUID, livemode: bool, source_type: str, amount: int, currency: str, hold: bool
) -> list[ProviderRoute]:
    """Return the routes that a charge may take, in the order in which they are to be tried; at least one.

    Raise PaymentError where no route takes it, and where the circuits of all routes are open.
    """
    candidates = _candidates(merchant_id, livemode, source_type)
    if not candidates:
        message = f"No provider takes this type of source in this mode. {how_to_enable(livemode)}"
        raise invalid(SOURCE_TYPE_UNAVAILABLE, "source", message)
    if hold and not (candidates := [candidate for candidate in candidates if candidate.capabilities.hold]):
        raise invalid(INVALID_CHOICE, "capture", "Only a card can be held; this source is captured at once.")
    if not (candidates := [candidate for candidate in candidates if candidate.takes(amount, currency)]):
        raise invalid(INVALID_CHOICE, "amount", "No provider takes this amount in this currency for this source.")
    return _with_closed_circuit(candidates)


def route_to_check(merchant_id: UUID, livemode: bool, currency: str) -> ProviderRoute | None:
    """Return the first route by which a card is checked for no amount; None where no provider can.

    Raise PaymentError where the circuits of all are open.
    """
    found = _candidates(merchant_id, livemode, sourcetypes.CARD)
    able = [each for each in found if each.capabilities.zero_amount and each.takes_currency(currency)]
    return _with_closed_circuit(able)[0] if able else None


def how_to_enable(livemode: bool) -> str:
    """Return what to do about a source type that no provider takes in this mode."""
    if not livemode:
        return "A live key may have a provider for it."
    return (
        "Live mode needs a provider account with a route for it, which an operator adds (see the guide Providers); "
        "a test key works without."
    )


def is_available(merchant_id: UUID, livemode: bool, source_type: str) -> bool:
    """Return whether there is a route for charges on this source type."""
    return bool(_candidates(merchant_id, livemode, source_type))


def by_type(merchant_id: UUID, livemode: bool, types: Sequence[str]) -> dict[str, list[Candidate]]:
    """Return the routes for charges by each of these source types, whatever their health."""
    if not livemode:
        return {name: _candidates(merchant_id, livemode, name) for name in types}
    found: dict[str, list[Candidate]] = {name: [] for name in types}
    for each in _routed(_routes(merchant_id).filter(source_type__in=types)):
        if each.via.route:
            found[each.via.route.source_type].append(each)
    return found


def first_routes(merchant_id: UUID) -> dict[str, Route]:
    """Return the merchant's first route of each source type that it can take in live mode."""
    routes = [candidate.via.route for candidate in _routed(_routes(merchant_id)) if candidate.via.route]
    return {route.source_type: route for route in reversed(routes)}


def route_of(attempt: Attempt) -> ProviderRoute:
    """Return the route of `attempt`, for what follows from it."""
    return ProviderRoute(provider_of(attempt), attempt.route)


def provider_of(attempt: Attempt) -> Provider:
    """Return the provider of `attempt`. Raise KeyError where it is not installed, VaultError, VaultUnavailable."""
    return connected(attempt.account) if attempt.account else registry.provider_named(attempt.provider)


def hold_place(place: ExitStack, via: ProviderRoute, merchant_id: UUID) -> None:
    """Hold a place at the provider until `place` is closed, and give up the one before. Raise ProviderBusy."""
    place.close()
    account_id = via.route.account_id if via.route else merchant_id
    place.enter_context(bulkheads.provider_place(via.provider.name, account_id))


def hold_first_place(place: ExitStack, routes: list[ProviderRoute], merchant_id: UUID) -> list[ProviderRoute]:
    """Return `routes` from the first on that has a free place, and hold it. Raise ProviderBusy."""
    for number, via in enumerate(routes[:-1]):
        with suppress(bulkheads.ProviderBusy):
            hold_place(place, via, merchant_id)
            return _from(routes, number)
    hold_place(place, routes[-1], merchant_id)
    return _from(routes, len(routes) - 1)


def _from(routes: list[ProviderRoute], number: int) -> list[ProviderRoute]:
    """Return the routes from this one on; those before it had no free place."""
    if not number:
        return routes
    reason = f"too many requests wait for the {number} before it"
    return [replace(routes[number], reason=reason), *routes[number + 1 :]]


def capabilities_of(via: ProviderRoute, source_type: str) -> Capabilities | None:
    """Return what the provider can do with a source type, as far as the route allows it."""
    capabilities, route = via.provider.capabilities(source_type), via.route
    if capabilities is None or route is None:
        return capabilities
    return replace(
        capabilities,
        hold=capabilities.hold and route.hold,
        refund=capabilities.refund and route.refund,
        partial_refund=capabilities.partial_refund and route.partial_refund,
    )


def _candidates(merchant_id: UUID, livemode: bool, source_type: str) -> list[Candidate]:
    if livemode:
        found = _routes(merchant_id).filter(source_type=source_type).annotate(recent=recent_attempts())
        return list(_routed(found))
    via = ProviderRoute(registry.provider_named(registry.SIMULATOR))
    capabilities = via.provider.capabilities(source_type)
    return [Candidate(via, capabilities)] if capabilities else []


def _routes(merchant_id: UUID) -> QuerySet[Route]:
    own = {"account__merchant_id": merchant_id, "account__livemode": True}
    rows = Route.objects.filter(**own, enabled=True, account__enabled=True)
    if not settings.LIVE_CARDS_ATTESTED:
        rows = rows.exclude(source_type=sourcetypes.CARD)
    # A connector that is no longer installed takes nothing; operators see what it took before.
    rows = rows.filter(account__provider__in=list(registry.CONNECTORS))
    return rows.select_related("account").order_by("position", "id")


def _routed(routes: Iterable[Route]) -> Iterable[Candidate]:
    for route in routes:
        try:
            via = ProviderRoute(connected(route.account), route)
        except VaultError:
            # One account with damaged credentials must not keep charges from the others.
            logger.exception("an account's credentials cannot be decrypted", extra={"account": route.account.public_id})
            continue
        if capabilities := capabilities_of(via, route.source_type):
            yield Candidate(via, capabilities)


def _with_closed_circuit(candidates: list[Candidate]) -> list[ProviderRoute]:
    """Return the routes whose circuits are closed or half-open. Raise PaymentError where all are open."""
    open_seconds = [candidate.health.open_seconds for candidate in candidates]
    if all(open_seconds):
        raise unavailable(min(open_seconds))
    closed = [candidate.via for candidate, seconds in zip(candidates, open_seconds, strict=True) if not seconds]
    if closed[0].route:
        opened = len(candidates) - len(closed)
        reason = f"the first of {len(candidates)} routes that take it" if len(candidates) > 1 else ONLY_ROUTE
        reason += f", {opened} of which have an open circuit" if opened else ""
        closed[0] = replace(closed[0], reason=reason)
    return closed
