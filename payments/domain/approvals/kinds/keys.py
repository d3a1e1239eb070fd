"""Live keys that can move money: made when their requester takes them, so that nobody else sees their text."""

from datetime import timedelta

from payments import clock
from payments.domain.approvals.kinds.changes import register_change
from payments.domain.merchants import api_keys
from payments.domain.merchants.api_keys import BadKey, KeyInactive
from payments.models import ApiKey, ApprovalRequest


def make_key(request: ApprovalRequest) -> tuple[ApiKey, str]:
    """Create the requested key; return it and its text. Raises BadKey, KeyInactive."""
    asked = request.after
    if request.kind == ApprovalRequest.Kind.ROLL_KEY:
        key = ApiKey.objects.select_related("merchant").get(id=request.subject_id)
        return api_keys.roll_key(key, timedelta(hours=asked["hours"]), request.id)
    expires_at = clock.now() + timedelta(days=asked["days"]) if asked["days"] else None
    limits = asked["rights"], asked["networks"], request.id, asked["name"]
    return api_keys.create_key(request.merchant, True, asked["kind"], expires_at, *limits, rules=asked.get("rules"))


for _kind in ApprovalRequest.KEYS:
    register_change(
        _kind, lambda request, _: make_key(request), BadKey, KeyInactive, follows=ApprovalRequest.State.APPROVED
    )
