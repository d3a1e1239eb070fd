"""The requests for approval that are a merchant's own, and how many wait."""

from django.db.models import Q
from django.http import HttpRequest

from payments.admin.framework.object_actions import operator_of
from payments.models import ApprovalRequest, Merchant, OperatorAction

# The permission to see each kind; the other kinds are the service's.
KINDS: dict[str, str] = {
    **dict.fromkeys(OperatorAction.KINDS, "payments.view_operatoraction"),
    **dict.fromkeys(ApprovalRequest.KEYS, "payments.view_approvalrequest"),
    ApprovalRequest.Kind.ADD_PAYOUT_ACCOUNT: "payments.view_payoutaccount",
    ApprovalRequest.Kind.RAISE_LIMIT: "payments.view_approvallimit",
}
# The navigation counts no more.
COUNTED = 100


def seen_by(request: HttpRequest) -> list[str]:
    """Return the kinds of requests that the user may see."""
    return [kind for kind, permission in KINDS.items() if request.user.has_perm(permission)]


def waiting_for(request: HttpRequest, merchant: Merchant) -> int:
    """Return how many requests of others the user may decide."""
    models = [model for model in (OperatorAction, ApprovalRequest) if request.user.has_perm(model.MAY_DECIDE)]
    kinds = [kind for kind in seen_by(request) if any(kind in model.KINDS for model in models)]
    waiting = ApprovalRequest.objects.proposed().filter(merchant=merchant, kind__in=kinds)
    of_staff = Q(kind__in=OperatorAction.KINDS, proposed_by__is_staff=True)
    return waiting.exclude(of_staff).exclude(proposed_by=operator_of(request))[:COUNTED].count()
