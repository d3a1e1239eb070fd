"""The changes that approved requests make, by the same functions that commands call."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from payments import clock
from payments.domain.approvals.payout_effects import apply_payout_change
from payments.domain.merchants import api_keys
from payments.domain.routing import provider_accounts, routes
from payments.models import ApiKey, ApprovalRequest, ProviderAccount, Route

Kind = ApprovalRequest.Kind
# The columns of a route that operators set.
ROUTE_COLUMNS = (
    "source_type",
    "currency",
    "amount_min",
    "amount_max",
    "position",
    "hold",
    "refund",
    "partial_refund",
    "enabled",
)


class Overtaken(Exception):
    """The row was changed after the request was made."""


def describe_account(account: ProviderAccount) -> dict[str, Any]:
    """Return the columns of an account that a request to change it stores."""
    return {
        "title": account.title,
        "enabled": account.enabled,
        "settings": account.settings,
        "version": account.version,
    }


def describe_route(route: Route) -> dict[str, Any]:
    """Return the columns of a route that a request to change it stores."""
    return {name: getattr(route, name) for name in ROUTE_COLUMNS}


def apply_change(request: ApprovalRequest, credentials: Mapping[str, str]) -> None:
    """Apply the change of `request` in the caller's transaction; the text of a created key is discarded.

    Raises Overtaken, BadKey, KeyInactive, BadAccount, BadRoute, BadPayoutAccount, BadSchedule, Refused,
    VaultUnavailable.
    """
    given = request.parameters
    match request.kind:
        case Kind.ISSUE_KEY | Kind.ROLL_KEY:
            make_key(request)
        case Kind.ADD_ACCOUNT:
            provider_accounts.open_account(
                request.merchant,
                True,
                given["provider"],
                given["title"],
                credentials,
                given["settings"],
                request.subject_id,
            )
        case Kind.CHANGE_ACCOUNT:
            account = ProviderAccount.objects.select_for_update(no_key=True).get(id=request.subject_id)
            if account.version != request.before["version"]:
                raise Overtaken("The account was changed since this was requested.")
            values = given["title"], given["enabled"], credentials, given["settings"]
            provider_accounts.change_account(account, *values)
        case Kind.ADD_ROUTE:
            account = ProviderAccount.objects.get(id=UUID(given["account"]), merchant=request.merchant)
            routes.add(Route(id=request.subject_id, account=account, **_columns(given)))
        case Kind.CHANGE_ROUTE:
            rows = Route.objects.select_for_update(no_key=True, of=("self",)).select_related("account")
            route = rows.get(id=request.subject_id)
            if describe_route(route) != request.before:
                raise Overtaken("The route was changed since this was requested.")
            routes.change(route, _columns(given))
        case _:
            apply_payout_change(request, credentials)


def make_key(request: ApprovalRequest) -> tuple[ApiKey, str]:
    """Create the requested key; return it and its text. Raises BadKey, KeyInactive."""
    given = request.parameters
    if request.kind == Kind.ROLL_KEY:
        key = ApiKey.objects.select_related("merchant").get(id=request.subject_id)
        return api_keys.roll_key(key, timedelta(hours=given["hours"]), request.id)
    expires_at = clock.now() + timedelta(days=given["days"]) if given["days"] else None
    return api_keys.create_key(
        request.merchant, True, given["kind"], expires_at, given["rights"], given["networks"], request.id, given["name"]
    )


def _columns(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: given[name] for name in ROUTE_COLUMNS}
