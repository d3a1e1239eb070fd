"""Bank accounts, schedules and payouts of live mode, set up by Ana and decided by Ben."""

from typing import Any

from django.contrib.auth.models import User

from payments.domain.approvals import decide
from payments.domain.approvals.kinds.payouts import describe_schedule
from payments.domain.approvals.request import submit
from payments.domain.payouts import terms
from payments.domain.payouts.terms import Terms
from payments.models import ApprovalRequest, Merchant, Payout, PayoutSchedule
from tests.approvals.factories import REASON, request_of
from tests.payouts.live import live_account

NUMBER = "000123456789"
ACCOUNT = {"currency": "PHP", "holder": "Sari Store", "bic": "BNORPHMM", "last4": NUMBER[-4:]}


def requested_account(merchant: Merchant, number: str = NUMBER, **fields: Any) -> ApprovalRequest:
    """Return a saved request of Ana's for a bank account."""
    request = request_of(merchant, "add_payout_account", ACCOUNT | fields)
    submit(request, {"number": number})
    return request


def requested_schedule(merchant: Merchant, wanted: Terms, currency: str = "PHP") -> ApprovalRequest:
    """Return a saved request of Ana's for the terms of a schedule."""
    now = terms.schedule_of(merchant, True, currency)
    members: dict[str, Any] = {"before": describe_schedule(now)} | ({"subject_id": now.id} if now else {})
    request = request_of(merchant, "set_payout_schedule", {"currency": currency, **wanted.as_json()}, **members)
    submit(request)
    return request


def requested_record(payout: Payout, status: str, **members: Any) -> ApprovalRequest:
    """Return a saved request of Ana's to record the end of a payout."""
    before = {"status": payout.status}
    given = {"before": before, "subject_id": payout.id} | members
    request = request_of(payout.merchant, "record_payout", {"status": status}, **given)
    submit(request)
    return request


def live_schedule(merchant: Merchant, **wanted: Any) -> PayoutSchedule:
    return terms.set_schedule(merchant, True, "PHP", Terms(**wanted))


def live_payout(merchant: Merchant, amount: int = 10_000, requested_by: User | None = None, **members: Any) -> Payout:
    """Store a live payout that is made of nothing, with the request of who asked for it."""
    members.setdefault("account", live_account(merchant))
    given = {"merchant": merchant, "livemode": True, "currency": "PHP", "amount": amount, "requested_by": requested_by}
    payout = Payout.objects.create(**given, **members)
    if requested_by:
        decide.approve_or_ask(payout, requested_by, REASON)
    return payout
