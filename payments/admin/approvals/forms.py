"""What a form says about approval, and the request that it submits."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.utils.translation import gettext_lazy as _

from payments.domain.approvals.executors import NO_CREDENTIALS
from payments.domain.approvals.request import submit
from payments.ids import new_id
from payments.models import ApprovalRequest, Merchant, MerchantAccess

NO_OTHER_APPROVER = _(
    "No other operator may approve it yet. Add another operator under Operators, with the role administrator, for this "
    "merchant or for all, and have them sign in."
)
# Of so many people of the staff, those who may decide are looked for.
STAFF_LOOKED_AT = 200
NOTHING_BEFORE: Mapping[str, Any] = MappingProxyType({})


def approval_notice(text: Any, operator: User, merchant: Merchant | None = None) -> Any:
    """Return the notice `text`, with advice where nobody but `operator` of the staff may approve."""
    return text if not operator.is_staff or has_approver(operator, merchant) else f"{text} {NO_OTHER_APPROVER}"


def has_approver(operator: User, merchant: Merchant | None) -> bool:
    """Return whether anybody but `operator` may decide requests, of `merchant` if one is given."""
    others = User.objects.filter(is_active=True, is_staff=True).exclude(pk=operator.pk).order_by("pk")
    return any(_may_decide(other, merchant) for other in others[:STAFF_LOOKED_AT])


def _may_decide(operator: User, merchant: Merchant | None) -> bool:
    if not operator.has_perm(ApprovalRequest.MAY_DECIDE):
        return False
    limit = MerchantAccess.objects.limit_of(operator)
    return limit is None or merchant is None or merchant.pk in limit


def submitted(
    merchant: Merchant | None,
    kind: str,
    cleaned: Mapping[str, Any],
    after: Mapping[str, Any],
    before: Mapping[str, Any] = NOTHING_BEFORE,
    subject_id: UUID | None = None,
    credentials: Mapping[str, str] = NO_CREDENTIALS,
) -> ApprovalRequest:
    """Return the request that a form made, with its `cleaned` data. Raises as `submit` does."""
    request_id = cleaned.get("row_id") or new_id()
    request = ApprovalRequest(
        id=request_id,
        merchant=merchant,
        kind=kind,
        subject_id=subject_id or request_id,
        after=dict(after),
        before=dict(before),
        reason=cleaned["reason"],
        proposed_by=cleaned["operator"],
    )
    submit(request, credentials)
    return request
