"""New requests for approval: by people on pages, and by assistants, once under an idempotency key."""

from uuid import UUID, uuid5

from django.db import IntegrityError

from payments.domain.approvals import executors
from payments.domain.approvals.execution import start
from payments.domain.approvals.executors import NO_CREDENTIALS, Credentials
from payments.domain.approvals.verbs import VERBS, call_of
from payments.domain.catalogue import error_table as errors
from payments.domain.charging.verbs import VOID
from payments.domain.merchants.assistants import caller_of
from payments.domain.operators.four_eyes import Refused
from payments.domain.shared.errors import PaymentError
from payments.domain.shared.verbs import Call
from payments.ids import new_id
from payments.models import ApiKey, ApprovalRequest, AssistantCall


def submit(request: ApprovalRequest, credentials: Credentials = NO_CREDENTIALS) -> None:
    """Save `request` as `executors.save` does, and raise as it does; execute it where it needs no approval."""
    executors.save(request, credentials)
    start(request)


def ask(key: ApiKey, call: Call, idempotency_key: str, reason: str) -> ApprovalRequest:
    """Return the request for `call`, new or made before under this key, executed where the key's rule lets it.

    Raise PaymentError for what the verb would refuse, and for an idempotency key of another call; Refused where too
    many requests wait; ValidationError for a reason that holds a secret.
    """
    subject = uuid5(key.merchant_id, f"{key.livemode} {key.asks_as_id} {idempotency_key}")
    request = _made_before(subject, call)
    if request is None:
        try:
            request = _saved(key, call, subject, reason)
        except (IntegrityError, PaymentError, Refused):
            # The same call came twice at once, and has perhaps moved the money already.
            request = _made_before(subject, call)
            if request is None:
                raise
    start(request)
    return request


def _made_before(subject: UUID, call: Call) -> ApprovalRequest | None:
    request = AssistantCall.objects.filter(subject_id=subject).first()
    if request and call_of(request) != call:
        message = (
            "This idempotency key was used for another call. Send that call as it was, or this one under a new key."
        )
        raise PaymentError(errors.KEY_CONFLICT, errors.IDEMPOTENCY_KEY_REUSED, message)
    return request


def _saved(key: ApiKey, call: Call, subject: UUID, reason: str) -> ApprovalRequest:
    planned = VERBS[call.tool].plan(caller_of(key), call)
    after = {"tool": call.tool, "about": call.about, "body": call.body, "key": key.id.hex, "livemode": key.livemode}
    if call.tool == VOID.name and planned.charge:
        # A hold that is captured meanwhile is not given back.
        after["held"] = planned.charge.authorized
    request = ApprovalRequest(
        id=new_id(),
        merchant_id=key.merchant_id,
        kind=ApprovalRequest.Kind.ASSISTANT_CALL,
        subject_id=subject,
        charge=planned.charge,
        amount=planned.amount,
        currency=planned.currency,
        after=after,
        reason=reason,
        proposed_by=key.asks_as,
    )
    executors.save(request)
    return request
