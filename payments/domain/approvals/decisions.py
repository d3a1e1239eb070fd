"""Decisions on requests for approval, their expiry, and the issue of an approved key to its requester."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction

from payments import clock
from payments.context import because
from payments.domain.approvals.effects import Overtaken, apply_change, make_key
from payments.domain.approvals.requests import opened_credentials, summary
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.merchants.api_keys import BadKey, KeyInactive
from payments.domain.operators.four_eyes import Operator, Refused, decision, expire_request
from payments.domain.payouts.accounts import BadPayoutAccount
from payments.domain.payouts.terms import BadSchedule
from payments.domain.routing.provider_accounts import BadAccount
from payments.domain.routing.routes import BadRoute
from payments.models import ApprovalRequest
from payments.models.operators.correction import NOTE_MAX_LENGTH
from payments.vault import VaultError, VaultUnavailable, with_prefetched_keys

State = ApprovalRequest.State
BATCH = 100
FAULTS = (Overtaken, BadKey, KeyInactive, BadAccount, BadRoute, BadPayoutAccount, BadSchedule)
NOT_OPEN = "This request is no longer open. It was decided meanwhile, or it has expired."


@with_prefetched_keys
def approve(request: ApprovalRequest, approver: Operator, note: str) -> None:
    """Approve `request` and apply its change; a key is created later, when its requester takes it.

    Raises Refused for one's own request, for one that is no longer open, for an empty note, and where the change
    cannot be applied now, which leaves the request open; ValidationError for a note that holds a secret;
    VaultUnavailable.
    """
    decided = decision(request, approver, note)
    try:
        with transaction.atomic():
            _approve(request, decided)
    except FAULTS as fault:
        raise Refused(f"The change cannot be applied now: {fault} The request is still open.") from fault
    except VaultUnavailable:
        raise
    except VaultError as fault:
        raise Refused("Its credentials cannot be opened. Decline it, and have them entered again.") from fault
    request.refresh_from_db()


def decline(request: ApprovalRequest, decider: Operator, note: str) -> None:
    """Decline `request` and destroy its credentials. Raises Refused and ValidationError as `approve` does."""
    _end(request, Action.DECLINED, (State.PROPOSED,), note, **decision(request, decider, note))


def withdraw(request: ApprovalRequest, requester: Operator, reason: str) -> None:
    """Withdraw one's own request, also an approved one whose key is not taken yet. Raises Refused."""
    if request.proposed_by_id != requester.pk:
        raise Refused("Only the requester may withdraw a request.")
    _end(request, Action.WITHDRAWN, (State.PROPOSED, State.APPROVED), reason)


@transaction.atomic
def take_key(request: ApprovalRequest, requester: Operator) -> tuple[str, str]:
    """Create the approved key; return its masked name and its text, which is not stored.

    Raises Refused for anybody but the requester, for a key that was taken or has expired, and where it cannot be
    created any more.
    """
    if request.proposed_by_id != requester.pk:
        raise Refused("Only the requester may take this key.")
    rows = ApprovalRequest.objects.filter(id=request.id, state=State.APPROVED, expires_at__gt=clock.now())
    if not rows.update(state=State.DONE, updated_at=clock.now()):
        raise Refused("This key was taken already, or the request has expired. Request another one.")
    request.refresh_from_db()
    try:
        with because(_reason(request)):
            key, text = make_key(request)
    except (BadKey, KeyInactive) as fault:
        raise Refused(str(fault)) from fault
    detail = f"{summary(request)}, approved by {request.decided_by}, made as {key}"
    audit_log.record(Action.DONE, request, detail=detail, reason=request.reason)
    return str(key), text


def expire(limit: int = BATCH) -> int:
    """Expire at most `limit` requests and destroy their credentials; return how many."""
    due = ApprovalRequest.objects.open().filter(expires_at__lte=clock.now())
    rows = due.select_related("proposed_by").order_by("expires_at")[:limit]
    return sum(expire_request(request, summary(request), sealed_credentials=None) for request in rows)


def _approve(request: ApprovalRequest, decided: dict[str, Any]) -> None:
    is_key = request.kind in ApprovalRequest.KEYS
    credentials = opened_credentials(request)
    values = decided | {"state": State.APPROVED if is_key else State.DONE, "sealed_credentials": None}
    if is_key:
        values["expires_at"] = clock.now() + timedelta(hours=settings.APPROVAL_HOURS)
    rows = ApprovalRequest.objects.proposed().filter(id=request.id, expires_at__gt=clock.now())
    if not rows.update(**values, updated_at=clock.now()):
        raise Refused(NOT_OPEN)
    request.decided_by, request.note = decided["decided_by"], decided["note"]
    if not is_key:
        with because(_reason(request)):
            apply_change(request, credentials)
    detail = f"{summary(request)}, approved by {request.decided_by}"
    audit_log.record(Action.APPROVED, request, detail=detail, reason=request.note)


@transaction.atomic
def _end(request: ApprovalRequest, action: Action, states: tuple[State, ...], reason: str, **decided: Any) -> None:
    rows = ApprovalRequest.objects.filter(id=request.id, state__in=states, expires_at__gt=clock.now())
    values = {"state": State(action), "sealed_credentials": None, "updated_at": clock.now()}
    if not rows.update(**values, **decided):
        raise Refused(NOT_OPEN)
    request.refresh_from_db()
    audit_log.record(action, request, detail=summary(request), reason=reason)


def _reason(request: ApprovalRequest) -> str:
    """Return the reason for the audit entries of the changed rows: both operators' words."""
    reason = f"{request.reason} (requested by {request.proposed_by}, approved by {request.decided_by}: {request.note})"
    return reason[: 2 * NOTE_MAX_LENGTH]
