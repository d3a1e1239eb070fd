"""The alert on every admin page while the last money check failed or is too old."""

from datetime import timedelta
from typing import Any

from django import template

from payments import clock
from payments.admin.framework.merchant_access import limit_of
from payments.models import MoneyCheck

CHECK_MAX_AGE = timedelta(days=2)

register = template.Library()


@register.inclusion_tag("admin/payments/moneycheck/alert.html", takes_context=True)
def money_alert(context: template.Context) -> dict[str, Any]:
    """Return the alert's context for staff who see all merchants, and nothing for others.

    A check covers all merchants, so staff limited to some of them do not see it.
    """
    user = context.get("user")
    if not (user and user.is_active and user.is_staff) or limit_of(context["request"]) is not None:
        return {}
    check = MoneyCheck.objects.newest_whole()
    return {
        "none": check is None,
        "too_long_ago": check is not None and check.started_at < clock.now() - CHECK_MAX_AGE,
        "check": check,
        "may_look": user.has_perm("payments.view_moneycheck"),
    }
