"""Decline alerts as marks on a chart over time."""

from collections.abc import Sequence
from datetime import datetime

from django.urls import reverse

from payments.admin.charts import WIDTH, Mark
from payments.admin.moments import moment_text
from payments.models import DeclineAlert
from payments.models.merchants.merchant_access import Limit, within

# More marks than these would cover each other; the list has all alerts.
MARKS_COUNT = 20


def marks_of(livemode: bool, begin: datetime, end: datetime, limit: Limit = None) -> Sequence[Mark]:
    """Return the newest alerts of the merchants in `limit` from `begin` until `end`, the oldest of them first."""
    raised = DeclineAlert.objects.filter(
        within(limit, "merchant"), livemode=livemode, created_at__gte=begin, created_at__lt=end
    )
    newest = raised.select_related("merchant").order_by("-created_at")[:MARKS_COUNT]
    return [_mark(alert, (alert.created_at - begin) / (end - begin)) for alert in reversed(newest)]


def _mark(alert: DeclineAlert, share: float) -> Mark:
    what = f"{alert.quota} declines {alert.get_kind_display()}, at {alert.merchant.title}"
    address = reverse("admin:payments_declinealert_change", args=[alert.pk])
    return Mark(round(share * WIDTH, 2), f"{moment_text(alert.created_at)}: {what}", address)
