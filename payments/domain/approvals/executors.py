"""What each kind of requests does when it is requested and when it is approved; the modules of `kinds` register it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from payments import clock
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.models import ApprovalRequest

Credentials = Mapping[str, str]
NO_CREDENTIALS: Credentials = MappingProxyType({})


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


def executor_of(request: ApprovalRequest) -> Executor:
    """Return the executor of the request's kind."""
    return _EXECUTORS[request.kind]


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
