"""The alert on every admin page for a day after too many declines."""

from typing import Any

from django import template

from payments.admin.framework.merchant_access import limit_of
from payments.models import DeclineAlert
from payments.models.merchants.merchant_access import within

SHOWN = 3

register = template.Library()


@register.inclusion_tag("admin/payments/declinealert/alert.html", takes_context=True)
def decline_alert(context: template.Context) -> dict[str, Any]:
    """Return the alert's context for staff, of their merchants; nothing for others."""
    user = context.get("user")
    if not (user and user.is_active and user.is_staff):
        return {}
    of_theirs = within(limit_of(context["request"]), "merchant")
    alerts = list(DeclineAlert.objects.recent().filter(of_theirs)[: SHOWN + 1])
    return {
        "alerts": alerts[:SHOWN],
        "more": len(alerts) > SHOWN,
        "may_look": user.has_perm("payments.view_declinealert"),
    }
