"""Decisions on requests for approval, their withdrawal and their expiry: one set of verbs for all kinds."""

import logging
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import DatabaseError, transaction

from payments import clock
from payments.context import because
from payments.domain.approvals.execution import start
from payments.domain.approvals.executors import executor_of, move, opened_credentials
from payments.domain.approvals.kinds.merchants import make_key
from payments.domain.approvals.payouts import GoesOut, ask_for, requests_of
from payments.domain.audit.audit_log import Action
from payments.domain.catalogue.refusal_texts import said
from payments.domain.merchants.api_keys import BadKey, KeyInactive
from payments.domain.operators.four_eyes import Refused, refuse_new
from payments.models import ApprovalRequest, Attempt, Correction
from payments.models.charging.attempt import UNRESOLVED
from payments.models.operators.approval_request import ApprovalRequestQuerySet
from payments.models.operators.reasons import NOTE_MAX_LENGTH, free_of_secrets
from payments.sweeps.in_turn import each_in_turn
from payments.sweeps.scope import ALL_MERCHANTS, Scope
from payments.vault import VaultError, VaultUnavailable, with_prefetched_keys

logger = logging.getLogger("kaha.approvals")

State = ApprovalRequest.State
Operator = User
REQUESTS = ApprovalRequest.objects
NOT_OPEN = "This request is no longer open. It was decided meanwhile, or it has expired."


def approve(request: ApprovalRequest, approver: Operator, note: str) -> None:
    """Approve `request` and do what it asks for: what moves money is executed after the commit, a key taken afterwards.

    A correction is overtaken where the provider's own answer came first. Raises Refused for one's own request, to who
    has new rights, for one that is no longer open, for an empty note, and where it cannot be done now, which leaves it
    open; ValidationError for a note that holds a secret; VaultUnavailable.
    """
    decided = _decision(request, approver, note)
    refuse_new(approver, request.merchant_id)
    _approve(request, decided)
    start(request)


def approve_or_ask(row: GoesOut, operator: Operator, reason: str) -> bool:
    """Approve a payout or a bank file, or ask another operator to; return whether it is approved. Raise Refused."""
    request = requests_of(row).first()
    if request is None:
        request = ask_for(row, operator, reason)
    else:
        approve(request, operator, reason)
    return request.state == State.DONE


def reject(request: ApprovalRequest, decider: Operator, note: str) -> None:
    """Reject `request`, which changes nothing. Raises Refused and ValidationError as `approve` does."""
    decided = _decision(request, decider, note)
    if not move(request, REQUESTS.undecided(), State.REJECTED, note, **decided):
        raise Refused(NOT_OPEN)


def withdraw(request: ApprovalRequest, requester: Operator, reason: str) -> None:
    """Withdraw one's own request, also an approved one whose key is not taken yet. Raises Refused."""
    if request.proposed_by_id != requester.pk:
        raise Refused("Only the requester may withdraw a request.")
    if not move(request, REQUESTS.undecided() | REQUESTS.to_take(), State.WITHDRAWN, reason):
        raise Refused(NOT_OPEN)


def expire(scope: Scope = ALL_MERCHANTS) -> int:
    """Expire the requests that nobody has decided or taken in time; return how many."""
    overdue = REQUESTS.overdue().filter(scope.within("charge__")).select_related("proposed_by")
    return each_in_turn(overdue, "expires_at", lambda row: move(row, REQUESTS.overdue(), State.EXPIRED, ""))


def close_overtaken() -> int:
    """End the proposed corrections of outcomes that became known in another way; return how many."""
    overtaken = Correction.objects.proposed().exclude(attempt__in=Attempt.objects.filter(UNRESOLVED))
    return each_in_turn(overtaken, "id", lambda row: move(row, REQUESTS.proposed(), State.OVERTAKEN, ""))


@transaction.atomic
def take_key(request: ApprovalRequest, requester: Operator) -> tuple[str, str]:
    """Create the approved key; return its masked name and its text, which is not stored.

    Raises Refused for anybody but the requester, for a key that was taken or has expired, and where it cannot be
    created any more.
    """
    if request.proposed_by_id != requester.pk:
        raise Refused("Only the requester may take this key.")
    _lock(request, REQUESTS.to_take(), "This key was taken already, or the request has expired. Request another one.")
    try:
        with because(_both_reasons(request)):
            key, text = make_key(request)
    except (BadKey, KeyInactive) as fault:
        raise Refused(str(fault)) from fault
    move(request, REQUESTS.approved(), State.DONE, request.reason, detail=f"made as {key}")
    return str(key), text


def _decision(request: ApprovalRequest, decider: Operator, note: str) -> dict[str, Any]:
    """Return the columns that record a decision. Raises Refused and ValidationError as `approve` does."""
    if request.proposed_by_id == decider.pk:
        raise Refused("Nobody decides their own request. Another person must.")
    if not note.strip():
        raise Refused("Give a reason for the decision.")
    free_of_secrets(note)
    return {"decided_by": decider, "decided_at": clock.now(), "note": note}


# What is executed afterwards waits for keys by itself.
@with_prefetched_keys
def _approve(request: ApprovalRequest, decided: dict[str, Any]) -> None:
    try:
        with transaction.atomic():
            _apply(request, decided)
    except executor_of(request).faults as fault:
        message = said("The change cannot be applied now: {fault} The request is still open.", fault=str(fault))
        raise Refused(message) from fault
    except VaultUnavailable:
        raise
    except VaultError as fault:
        raise Refused("Its credentials cannot be opened. Reject it, and have them entered again.") from fault
    except DatabaseError as error:
        logger.exception("request could not be approved", extra={"approval_request": request.id.hex})
        raise Refused("The decision could not be recorded. The request is still open.") from error


def _apply(request: ApprovalRequest, decided: dict[str, Any]) -> None:
    _lock(request, REQUESTS.undecided(), NOT_OPEN)
    request.decided_by, request.note = decided["decided_by"], decided["note"]
    with because(_both_reasons(request)):
        state = executor_of(request).apply(request, opened_credentials(request))
    if state == State.OVERTAKEN:
        move(request, REQUESTS.proposed(), state, "")
        return
    if request.kind in ApprovalRequest.KEYS:
        decided = decided | {"expires_at": clock.now() + timedelta(hours=settings.APPROVAL_HOURS)}
    move(request, REQUESTS.proposed(), state, decided["note"], Action.APPROVED, **decided)


def _lock(request: ApprovalRequest, among: ApprovalRequestQuerySet, too_late: str) -> None:
    """Lock `request` until the transaction ends, so that nobody moves it meanwhile; raise Refused if it was moved."""
    if not among.select_for_update(no_key=True).filter(id=request.id).exists():
        raise Refused(too_late)


def _both_reasons(request: ApprovalRequest) -> str:
    """Return the reason for the audit entries of the changed rows: both operators' words."""
    reason = f"{request.reason} (requested by {request.proposed_by}, approved by {request.decided_by}: {request.note})"
    return reason[: 2 * NOTE_MAX_LENGTH]
