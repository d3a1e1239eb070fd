"""The alert on every page of the admin while the last money check failed, or is too long ago."""

from datetime import timedelta
from typing import Any

from django import template

from payments import clock
from payments.admin.framework.merchant_access import limit_of
from payments.models import MoneyCheck

TOO_LONG = timedelta(days=2)

register = template.Library()


@register.inclusion_tag("admin/payments/moneycheck/alert.html", takes_context=True)
def money_alert(context: template.Context) -> dict[str, Any]:
    """What the alert says to a member of the staff, for one statement; nobody else is told, and nothing is read.

    A check is of everybody's money, so whoever is limited to some merchants is not told either.
    """
    user = context.get("user")
    if not (user and user.is_active and user.is_staff) or limit_of(context["request"]) is not None:
        return {}
    check = MoneyCheck.objects.newest_whole()
    return {
        "none": check is None,
        "too_long_ago": check is not None and check.started_at < clock.now() - TOO_LONG,
        "check": check,
        "may_look": user.has_perm("payments.view_moneycheck"),
    }
