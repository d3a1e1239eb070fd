"""What a merchant asks for of its account: keys that move money, a higher limit, and live cards that come or leave.

A key is made when its requester takes it, so that nobody else sees its text. One owner lowers the limit up to which a
person gives money back, and two persons raise it.
"""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid5

from django.conf import settings

from payments import clock
from payments.domain.approvals.executors import Credentials
from payments.domain.approvals.kinds.changes import Overtaken, register_change
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.merchants import api_keys
from payments.domain.merchants.api_keys import BadKey, KeyInactive
from payments.domain.operators.four_eyes import Refused
from payments.models import ApiKey, ApprovalLimit, ApprovalRequest, Merchant

Kind = ApprovalRequest.Kind


def make_key(request: ApprovalRequest) -> tuple[ApiKey, str]:
    """Create the requested key; return it and its text. Raises BadKey, KeyInactive."""
    asked = request.after
    if request.kind == Kind.ROLL_KEY:
        key = ApiKey.objects.select_related("merchant").get(id=request.subject_id)
        return api_keys.roll_key(key, timedelta(hours=asked["hours"]), request.id)
    expires_at = clock.now() + timedelta(days=asked["days"]) if asked["days"] else None
    limits = asked["rights"], asked["networks"], request.id, asked["name"]
    return api_keys.create_key(request.merchant, True, asked["kind"], expires_at, *limits, rules=asked.get("rules"))


for _kind in ApprovalRequest.KEYS:
    register_change(
        _kind, lambda request, _: make_key(request), BadKey, KeyInactive, follows=ApprovalRequest.State.APPROVED
    )


def subject_of(limit: ApprovalLimit) -> UUID:
    """Return what the request to raise `limit` is about, of which one may be open."""
    return uuid5(limit.merchant.pk, limit.currency)


def _raise(request: ApprovalRequest, _: Credentials) -> None:
    asked = request.after
    limit = ApprovalLimit.objects.filter(merchant=request.merchant, currency=asked["currency"])
    if limit.filter(amount=request.before["amount"]).update(amount=asked["amount"]) != 1:
        raise Overtaken("The limit was changed since this was requested.")
    audit_log.record(Action.CHANGED, limit.get(), fields=["amount"])


register_change(Kind.RAISE_LIMIT, _raise)


def require_approved(merchant: Merchant, asked: dict[str, Any]) -> None:
    """Raise Refused unless live cards are attested, and what is `asked` was approved not long ago."""
    _require_attested()
    since = clock.now() - timedelta(hours=settings.APPROVAL_HOURS)
    done = ApprovalRequest.objects.filter(merchant=merchant, kind=Kind.MOVE_CUSTOMERS, state="done")
    if not done.filter(after=asked, decided_at__gte=since).exists():
        what = ", ".join(f"{name} {value}" for name, value in asked.items())
        raise Refused(f"Two people approve this first: ask on the merchant's page, by Move customers, for {what}.")


def _require_attested(*_: object) -> None:
    if not settings.LIVE_CARDS_ATTESTED:
        raise Refused("Live mode takes no cards until LIVE_CARDS_ATTESTED is set.")


register_change(Kind.MOVE_CUSTOMERS, _require_attested)
