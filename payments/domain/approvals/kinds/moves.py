"""Live customers with cards that come or leave by a command, once the file, or the key they leave for, is approved."""

from datetime import timedelta
from typing import Any

from django.conf import settings

from payments import clock
from payments.domain.approvals.kinds.changes import register_change
from payments.domain.operators.four_eyes import Refused
from payments.models import ApprovalRequest, Merchant
from payments.models.operators.approval_rules import Kind


def require_approved(merchant: Merchant, asked: dict[str, Any]) -> None:
    """Raise Refused unless live cards are attested, and what is `asked` was approved not long ago."""
    _check()
    since = clock.now() - timedelta(hours=settings.APPROVAL_HOURS)
    done = ApprovalRequest.objects.filter(merchant=merchant, kind=Kind.MOVE_CUSTOMERS, state="done")
    if not done.filter(after=asked, decided_at__gte=since).exists():
        what = ", ".join(f"{name} {value}" for name, value in asked.items())
        raise Refused(f"Two people approve this first: ask on the merchant's page, by Move customers, for {what}.")


def _check(*_: object) -> None:
    if not settings.LIVE_CARDS_ATTESTED:
        raise Refused("Live mode takes no cards until LIVE_CARDS_ATTESTED is set.")


register_change(Kind.MOVE_CUSTOMERS, _check)
