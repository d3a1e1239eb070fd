"""Live routes and provider accounts: made and changed by the same functions that commands call."""

from typing import Any
from uuid import UUID

from payments.domain.approvals.executors import Credentials
from payments.domain.approvals.kinds.changes import Overtaken, register_change
from payments.domain.routing import provider_accounts, routes
from payments.domain.routing.provider_accounts import BadAccount
from payments.domain.routing.routes import BadRoute
from payments.models import ApprovalRequest, ProviderAccount, Route

Kind = ApprovalRequest.Kind
# The columns of a route that operators set.
COLUMNS = (
    *("source_type", "currency", "amount_min", "amount_max", "position", "hold", "refund", "partial_refund", "enabled"),
)


def describe_route(route: Route) -> dict[str, Any]:
    """Return the columns of a route that a request to change it stores."""
    return {name: getattr(route, name) for name in COLUMNS}


def _add_route(request: ApprovalRequest, _: Credentials) -> None:
    account = ProviderAccount.objects.get(id=UUID(request.after["account"]), merchant=request.merchant)
    routes.add(Route(id=request.subject_id, account=account, **_columns(request)))


def _change_route(request: ApprovalRequest, _: Credentials) -> None:
    rows = Route.objects.select_for_update(no_key=True, of=("self",)).select_related("account")
    route = rows.get(id=request.subject_id)
    if describe_route(route) != request.before:
        raise Overtaken("The route was changed since this was requested.")
    routes.change(route, _columns(request))


def _columns(request: ApprovalRequest) -> dict[str, Any]:
    return {name: request.after[name] for name in COLUMNS}


register_change(Kind.ADD_ROUTE, _add_route, BadRoute)
register_change(Kind.CHANGE_ROUTE, _change_route, BadRoute)


def describe_account(account: ProviderAccount) -> dict[str, Any]:
    """Return the columns of an account that a request to change it stores."""
    return {name: getattr(account, name) for name in ("title", "enabled", "settings", "version")}


def _add_account(request: ApprovalRequest, credentials: Credentials) -> None:
    asked = request.after
    values = asked["provider"], asked["title"], credentials, asked["settings"]
    provider_accounts.open_account(request.merchant, True, *values, request.subject_id)


def _change_account(request: ApprovalRequest, credentials: Credentials) -> None:
    account, asked = ProviderAccount.objects.select_for_update(no_key=True).get(id=request.subject_id), request.after
    if account.version != request.before["version"]:
        raise Overtaken("The account was changed since this was requested.")
    provider_accounts.change_account(account, asked["title"], asked["enabled"], credentials, asked["settings"])


register_change(Kind.ADD_ACCOUNT, _add_account, BadAccount)
register_change(Kind.CHANGE_ACCOUNT, _change_account, BadAccount)
