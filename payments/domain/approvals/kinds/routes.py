"""Live routes: added and changed by the same functions that commands call."""

from typing import Any
from uuid import UUID

from payments.domain.approvals.executors import Credentials
from payments.domain.approvals.kinds.changes import Overtaken, register_change
from payments.domain.routing import routes
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


def _add(request: ApprovalRequest, _: Credentials) -> None:
    account = ProviderAccount.objects.get(id=UUID(request.after["account"]), merchant=request.merchant)
    routes.add(Route(id=request.subject_id, account=account, **_columns(request)))


def _change(request: ApprovalRequest, _: Credentials) -> None:
    rows = Route.objects.select_for_update(no_key=True, of=("self",)).select_related("account")
    route = rows.get(id=request.subject_id)
    if describe_route(route) != request.before:
        raise Overtaken("The route was changed since this was requested.")
    routes.change(route, _columns(request))


def _columns(request: ApprovalRequest) -> dict[str, Any]:
    return {name: request.after[name] for name in COLUMNS}


register_change(Kind.ADD_ROUTE, _add, BadRoute)
register_change(Kind.CHANGE_ROUTE, _change, BadRoute)
