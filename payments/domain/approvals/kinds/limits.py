"""The limit up to which one of a merchant's people gives money back: lowered by one owner, raised by two persons."""

from uuid import UUID, uuid5

from payments.domain.approvals.executors import Credentials
from payments.domain.approvals.kinds.changes import Overtaken, register_change
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.models import ApprovalLimit, ApprovalRequest


def subject_of(limit: ApprovalLimit) -> UUID:
    """Return what the request to raise `limit` is about, of which one may be open."""
    return uuid5(limit.merchant.pk, limit.currency)


def _raise(request: ApprovalRequest, _: Credentials) -> None:
    asked = request.after
    limit = ApprovalLimit.objects.filter(merchant=request.merchant, currency=asked["currency"])
    if limit.filter(amount=request.before["amount"]).update(amount=asked["amount"]) != 1:
        raise Overtaken("The limit was changed since this was requested.")
    audit_log.record(Action.CHANGED, limit.get(), fields=["amount"])


register_change(ApprovalRequest.Kind.RAISE_LIMIT, _raise)
