"""The main pages of the admin, for those who look at all of them."""

from collections.abc import Mapping

from django.urls import reverse

from payments.models import ApprovalRequest, Charge, UnknownOutcome, Webhook


def main_pages() -> Mapping[str, str]:
    """Their addresses by name; there must be something on each."""
    charge = Charge.objects.filter(captured=True, status=Charge.Status.SUCCEEDED).latest("pk")
    held = Charge.objects.filter(authorized=True).latest("pk")
    return {
        "first-page": f"{reverse('admin:index')}?days=30",
        "charges": reverse("admin:payments_charge_changelist"),
        "charge": reverse("admin:payments_charge_change", args=[charge.pk]),
        "capture": reverse("admin:payments_charge_capture", args=[held.pk]),
        "refund": reverse("admin:payments_charge_refund", args=[charge.pk]),
        "requests": reverse("admin:payments_operatoraction_changelist"),
        "waiting-for-approval": reverse("admin:payments_approvalrequest_waiting"),
        "approval": reverse("admin:payments_approvalrequest_decide", args=[ApprovalRequest.objects.latest("pk").pk]),
        "issue-key": reverse("admin:payments_merchant_issue_key", args=[charge.merchant_id]),
        "desk": reverse("admin:payments_unknownoutcome_changelist"),
        "unknown-outcome": reverse(
            "admin:payments_unknownoutcome_change", args=[UnknownOutcome.objects.earliest("pk").pk]
        ),
        "webhooks": reverse("admin:payments_webhook_changelist"),
        "webhook": reverse("admin:payments_webhook_change", args=[Webhook.objects.latest("pk").pk]),
        "merchants": reverse("admin:payments_merchant_changelist"),
        "audit-log": reverse("admin:payments_auditentry_changelist"),
        "block": reverse("admin:payments_block_add"),
        "reconciliation": reverse("admin:payments_reconciliationitem_changelist"),
    }
