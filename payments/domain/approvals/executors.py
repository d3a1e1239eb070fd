"""What each kind of requests does, which the modules of `kinds` register, and the only ways in which one is written."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from payments import clock
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.operators.four_eyes import Refused
from payments.models import ApprovalRequest
from payments.money import shown_amount
from payments.vault import Place, Purpose, seal, unseal, with_prefetched_keys

Credentials = Mapping[str, str]
NO_CREDENTIALS: Credentials = MappingProxyType({})
ONE_PER_SUBJECT = "one_open_approval_request_per_subject"


@dataclass(frozen=True, slots=True)
class Executor:
    """What a kind of requests does.

    `summary` is for the audit log. `prepare` fills in a new request and raises what forbids it, in the transaction that
    saves it. `apply` does what is asked for, in the transaction of the approval, and returns the state that follows;
    after one of `faults` the request is still open.
    """

    summary: Callable[[ApprovalRequest], str]
    prepare: Callable[[ApprovalRequest, Credentials], None]
    apply: Callable[[ApprovalRequest, Credentials], ApprovalRequest.State]
    faults: tuple[type[Exception], ...] = ()


_EXECUTORS: dict[str, Executor] = {}


def register(kinds: Iterable[str], executor: Executor) -> None:
    """Have `executor` do what requests of `kinds` ask for."""
    _EXECUTORS.update(dict.fromkeys(kinds, executor))


def in_brief(request: ApprovalRequest) -> str:
    """Return a summary of what moves money, such as "refund of ₱1,250.00, ch_…"."""
    about = str(request.charge or request.after.get("made", ""))
    return ", ".join(filter(None, [f"{request.verb} of {shown_amount(request.amount, request.currency)}", about]))


def executor_of(request: ApprovalRequest) -> Executor:
    """Return the executor of the request's kind."""
    return _EXECUTORS[request.kind]


@with_prefetched_keys
def save(request: ApprovalRequest, credentials: Credentials = NO_CREDENTIALS) -> None:
    """Save `request`, a new row with kind, requester, reason and what its kind needs, for another operator to decide.

    What its requester may do alone is approved at once, or done; nothing is executed. Raises what the kind's
    `prepare` raises; Refused where there is an open request about the same subject; ValidationError for a reason that
    is empty or holds a secret.
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


@transaction.atomic
def move(
    request: ApprovalRequest,
    among: QuerySet[ApprovalRequest],
    state: str,
    reason: str,
    action: Action | None = None,
    detail: str = "",
    **values: Any,
) -> bool:
    """Move `request` to `state` with other new `values`, and record it in the audit log: the only way to do so.

    Return False, with nothing changed, where the stored request is not `among` those that may be moved any more.
    """
    values |= {"state": state, "sealed_credentials": None, "updated_at": clock.now()}
    is_moved = bool(among.filter(id=request.id).update(**values))
    request.refresh_from_db()
    if is_moved:
        details = filter(None, [executor_of(request).summary(request), detail])
        audit_log.record(action or Action(state), request, detail=", ".join(details), reason=reason)
    return is_moved


def _place_of(request: ApprovalRequest) -> Place:
    return Place(Purpose.SECRET, request.merchant.pk, request.id, "requested_credentials")
