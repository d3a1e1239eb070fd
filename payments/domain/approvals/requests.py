"""New requests for approval: checked by a dry run, saved with sealed credentials, and limited in number."""

import json
from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from payments import clock
from payments.domain.approvals.effects import apply_change
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.operators.four_eyes import Refused
from payments.ids import public_id
from payments.models import ApprovalRequest
from payments.vault import Place, Purpose, seal, unseal, with_prefetched_keys

NO_CREDENTIALS: Mapping[str, str] = MappingProxyType({})
# Per operator, so that nobody floods the list that others decide.
OPEN_REQUESTS_MAX = 20
ONE_PER_SUBJECT = "one_open_approval_request_per_subject"


@with_prefetched_keys
def submit_request(request: ApprovalRequest, credentials: Mapping[str, str] = NO_CREDENTIALS) -> None:
    """Save `request`, a new row with merchant, kind, subject, parameters, reason and requester, for an approver.

    A dry run first raises as `effects.apply_change` does where the change could not be applied now. Raises Refused
    where the operator has too many open requests, or one about the same subject exists; ValidationError for a reason
    with a secret.
    """
    given = {name: value for name, value in credentials.items() if value}
    request.expires_at = clock.now() + timedelta(hours=settings.APPROVAL_HOURS)
    request.sealed_credentials = seal(json.dumps(given), place_of(request)) if given else None
    request.clean_fields()
    # Rolled back, so that the form shows now what an approval would fail on.
    with transaction.atomic():
        apply_change(request, given)
        transaction.set_rollback(True)
    try:
        with transaction.atomic():
            # Without this lock, two requests at the same time would not count each other.
            User.objects.select_for_update(no_key=True).get(id=request.proposed_by_id)
            if ApprovalRequest.objects.open().filter(proposed_by=request.proposed_by).count() >= OPEN_REQUESTS_MAX:
                raise Refused(f"You have {OPEN_REQUESTS_MAX} open requests. Wait for a decision, or withdraw some.")
            request.save(force_insert=True)
            audit_log.record(Action.PROPOSED, request, detail=summary(request), reason=request.reason)
    except IntegrityError as error:
        if ONE_PER_SUBJECT in str(error):
            raise Refused(
                "There is an open request about this already. It must be decided or withdrawn first."
            ) from error
        raise


def opened_credentials(request: ApprovalRequest) -> dict[str, str]:
    """Return the credentials that the requester entered. Raises VaultError, VaultUnavailable."""
    if request.sealed_credentials is None:
        return {}
    credentials: dict[str, str] = json.loads(unseal(request.sealed_credentials, place_of(request)))
    return credentials


def place_of(request: ApprovalRequest) -> Place:
    """Return the place where the credentials of `request` are sealed."""
    return Place(Purpose.SECRET, request.merchant_id, request.id, "requested_credentials")


def summary(request: ApprovalRequest) -> str:
    """Return the change and its requester, for the audit log: "issue_key, mer_…, requested by ana"."""
    merchant = public_id("mer", request.merchant_id)
    change = json.dumps({"before": request.before, "after": request.parameters}, sort_keys=True, ensure_ascii=False)
    return f"{request.kind}, {merchant}, requested by {request.proposed_by}, {change}"
