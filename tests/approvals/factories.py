"""Requests for approval, made by Ana and decided by Ben."""

from typing import Any

from payments.domain.approvals import decide
from payments.domain.approvals.kinds.routing import describe_account, describe_route
from payments.domain.approvals.request import submit
from payments.ids import new_id
from payments.models import ApprovalRequest, Merchant, ProviderAccount, Route
from tests.operators.corrections import operator

REASON = "The shop opens on Monday"
NOTE = "Asked the merchant by telephone"
SECRET_KEY = {"name": "", "kind": "secret", "rights": [], "networks": [], "days": None}
CARDS = {
    "source_type": "card",
    "currency": "PHP",
    "amount_min": 2_000,
    "amount_max": None,
    "position": 1,
    "hold": True,
    "refund": True,
    "partial_refund": True,
    "enabled": True,
}


def request_of(merchant: Merchant, kind: str, after: dict[str, Any], **members: Any) -> ApprovalRequest:
    """Return a request that is not saved yet."""
    request_id = new_id()
    given = {"id": request_id, "subject_id": request_id, "reason": REASON, "proposed_by": operator("ana")} | members
    return ApprovalRequest(merchant=merchant, kind=kind, after=after, **given)


def requested_key(merchant: Merchant, **members: Any) -> ApprovalRequest:
    """Return a saved request for a secret live key."""
    request = request_of(merchant, "issue_key", SECRET_KEY, **members)
    submit(request)
    return request


def requested_account(merchant: Merchant, credentials: dict[str, str], **members: Any) -> ApprovalRequest:
    """Return a saved request for an account at north."""
    provider = members.pop("provider", "north")
    settings = {"branch": "Cebu"} if provider == "north" else {}
    asked = {"provider": provider, "title": "Requested", "settings": settings, "credentials": sorted(credentials)}
    request = request_of(merchant, "add_account", asked, **members)
    submit(request, credentials)
    return request


def requested_change(account: ProviderAccount, credentials: dict[str, str], **asked: Any) -> ApprovalRequest:
    """Return a saved request for a change of an account."""
    values = {"title": account.title, "enabled": account.enabled, "settings": account.settings} | asked
    values["credentials"] = sorted(credentials)
    before = describe_account(account)
    request = request_of(account.merchant, "change_account", values, before=before, subject_id=account.id)
    submit(request, credentials)
    return request


def requested_route(account: ProviderAccount) -> ApprovalRequest:
    """Return a saved request for a route of cards."""
    request = request_of(account.merchant, "add_route", {"account": str(account.id), **CARDS})
    submit(request)
    return request


def requested_route_change(route: Route, **asked: Any) -> ApprovalRequest:
    """Return a saved request for a change of a route."""
    before = describe_route(route)
    members = {"before": before, "subject_id": route.id}
    request = request_of(route.account.merchant, "change_route", before | asked, **members)
    submit(request)
    return request


def approved(request: ApprovalRequest) -> ApprovalRequest:
    """Return the request after Ben has approved it."""
    decide.approve(request, operator("ben"), NOTE)
    return request
