"""Routes: the accounts that charges may go to, and their order, as operators set them."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from payments import clock, sourcetypes
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.routing.provider_accounts import connected
from payments.models import Route
from payments.money import KNOWN_CURRENCIES


class BadRoute(ValueError):
    """A route that is refused; the message is for the operator who described it."""


def add(route: Route) -> None:
    """Insert a route, in force at once. Raise BadRoute, VaultUnavailable."""
    _check(route)
    with transaction.atomic():
        route.save(force_insert=True)
        audit_log.record(Action.ADDED, route, detail=f"by {route.account}, place {route.position}")


def change(route: Route, values: Mapping[str, Any]) -> None:
    """Change the `values` of a route by name, for charges from now on. Raise BadRoute, VaultUnavailable."""
    changed = [name for name, value in values.items() if getattr(route, name) != value]
    for name in changed:
        setattr(route, name, values[name])
    _check(route)
    with transaction.atomic():
        Route.objects.filter(id=route.id).update(**values, updated_at=clock.now())
        audit_log.record(Action.CHANGED, route, fields=changed, detail=f"by {route.account}, place {route.position}")


def _check(route: Route) -> None:
    label = sourcetypes.shown(route.source_type).label
    if not route.account.livemode:
        raise BadRoute("A route leads to an account of live mode; test mode has the simulator.")
    if connected(route.account).capabilities(route.source_type) is None:
        raise BadRoute(f"{route.account.provider} does not take {label}.")
    if route.currency and route.currency not in KNOWN_CURRENCIES:
        raise BadRoute(f"{route.currency!r} is no ISO 4217 currency code in upper case, such as PHP.")
    if route.partial_refund and not route.refund:
        raise BadRoute("What cannot be refunded cannot be refunded in part.")
    bounds = [bound for bound in (route.amount_min, route.amount_max) if bound is not None]
    if bounds and not route.currency:
        raise BadRoute("Amounts are of a currency: name it, too.")
    if bounds != sorted(bounds) or any(bound < 1 for bound in bounds):
        raise BadRoute("The smallest amount is 1 or more, and not above the largest.")
