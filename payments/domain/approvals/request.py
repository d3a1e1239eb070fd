"""New requests for approval: checked, saved with sealed credentials, and limited in number by their kind."""

import json
from datetime import timedelta

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from payments import clock
from payments.domain.approvals import kinds  # noqa: F401  registers the executors
from payments.domain.approvals.executors import NO_CREDENTIALS, Credentials, executor_of
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.operators.four_eyes import Refused
from payments.models import ApprovalRequest
from payments.vault import Place, Purpose, seal, unseal, with_prefetched_keys

ONE_PER_SUBJECT = "one_open_approval_request_per_subject"


@with_prefetched_keys
def submit(request: ApprovalRequest, credentials: Credentials = NO_CREDENTIALS) -> None:
    """Save `request`, a new row with kind, requester, reason and what its kind needs, for another operator to decide.

    What its requester may do alone is approved at once, or done. Raises what the kind's `prepare` raises; Refused
    where there is an open request about the same subject; ValidationError for a reason that is empty or holds a secret.
    """
    given = {name: value for name, value in credentials.items() if value}
    request.expires_at = clock.now() + timedelta(hours=settings.APPROVAL_HOURS)
    request.sealed_credentials = seal(json.dumps(given), _place_of(request)) if given else None
    executor = executor_of(request)
    try:
        with transaction.atomic():
            executor.prepare(request, given)
            request.clean_fields()
            if not request.reason.strip():
                raise ValidationError({"reason": "Say why."})
            request.save(force_insert=True)
            audit_log.record(Action.PROPOSED, request, detail=executor.summary(request), reason=request.reason)
            if request.state == request.State.DONE:
                audit_log.record(Action.DONE, request, detail=executor.summary(request), reason=request.reason)
    except IntegrityError as error:
        if ONE_PER_SUBJECT not in str(error):
            raise
        text = "There is an open request about this already. It must be decided or withdrawn first."
        raise Refused(text) from error


def opened_credentials(request: ApprovalRequest) -> Credentials:
    """Return the credentials that the requester entered. Raises VaultError, VaultUnavailable."""
    if request.sealed_credentials is None:
        return NO_CREDENTIALS
    credentials: dict[str, str] = json.loads(unseal(request.sealed_credentials, _place_of(request)))
    return credentials


def _place_of(request: ApprovalRequest) -> Place:
    return Place(Purpose.SECRET, request.merchant_id, request.id, "requested_credentials")
