"""What changes to keys, provider accounts, routes and payouts share: a dry run, and a limit of open requests."""

import json
from collections.abc import Callable

from django.contrib.auth.models import User
from django.db import transaction

from payments.domain.approvals.executors import Credentials, Executor, register
from payments.domain.catalogue.refusal_texts import said
from payments.domain.operators.four_eyes import Refused
from payments.ids import public_id
from payments.models import ApprovalRequest
from payments.models.operators.approval_rules import PAYING_OUT

State = ApprovalRequest.State
# Per operator, so that nobody floods the list that others decide.
OPEN_REQUESTS_MAX = 20
Change = Callable[[ApprovalRequest, Credentials], object]


class Overtaken(Exception):
    """The row was changed after the request was made."""


def register_change(kind: str, change: Change, *faults: type[Exception], follows: State = State.DONE) -> None:
    """Have requests of `kind` make `change`, which may raise `faults`: by the approval, or after it where not done."""

    def prepare(request: ApprovalRequest, credentials: Credentials) -> None:
        # Rolled back, so that the form shows now what an approval would fail on.
        with transaction.atomic():
            change(request, credentials)
            transaction.set_rollback(True)
        # Without this lock, two requests at the same time would not count each other.
        User.objects.select_for_update(no_key=True).get(id=request.proposed_by_id)
        own = ApprovalRequest.objects.filter(kind__in=ApprovalRequest.KINDS, proposed_by=request.proposed_by)
        if own.open().exclude(kind__in=PAYING_OUT).count() >= OPEN_REQUESTS_MAX:
            raise Refused(
                said("You have {count} open requests. Wait for a decision, or withdraw some.", count=OPEN_REQUESTS_MAX)
            )

    def apply(request: ApprovalRequest, credentials: Credentials) -> State:
        if follows == State.DONE:
            change(request, credentials)
        return follows

    register([kind], Executor(_summary, prepare, apply, (Overtaken, *faults)))


def _summary(request: ApprovalRequest) -> str:
    """Return the change and its requester: "issue_key, mer_…, requested by ana"."""
    merchant = public_id("mer", request.merchant.pk) if request.merchant else request.whose
    change = json.dumps({"before": request.before, "after": request.after}, sort_keys=True, ensure_ascii=False)
    summary = f"{request.kind}, {merchant}, requested by {request.proposed_by}, {change}"
    is_approved = request.state in (State.APPROVED, State.DONE)
    return f"{summary}, approved by {request.decided_by}" if is_approved else summary
