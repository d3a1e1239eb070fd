"""The alert on every page of the admin for a day after too many charges were declined."""

from typing import Any

from django import template

from payments.models import DeclineAlert

SHOWN = 3

register = template.Library()


@register.inclusion_tag("admin/payments/declinealert/alert.html", takes_context=True)
def decline_alert(context: template.Context) -> dict[str, Any]:
    """What the alert says to a member of the staff, for one statement; nobody else is told, and nothing is read."""
    user = context.get("user")
    if not (user and user.is_active and user.is_staff):
        return {}
    alerts = list(DeclineAlert.objects.recent()[: SHOWN + 1])
    return {
        "alerts": alerts[:SHOWN],
        "more": len(alerts) > SHOWN,
        "may_look": user.has_perm("payments.view_declinealert"),
    }
