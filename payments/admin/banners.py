"""The alerts on every page of the admin: a money check that failed or is too old, and too many declines."""

from datetime import timedelta
from typing import Any

from django import template

from payments import clock
from payments.admin.framework.merchant_access import limit_of
from payments.models import DeclineAlert, MoneyCheck
from payments.models.merchants.merchant_access import within

CHECK_MAX_AGE = timedelta(days=2)
SHOWN = 3

register = template.Library()


@register.inclusion_tag("admin/payments/moneycheck/alert.html", takes_context=True)
def money_alert(context: template.Context) -> dict[str, Any]:
    """Return the alert's context for staff who see all merchants, and nothing for others.

    A check covers all merchants, so staff limited to some of them do not see it.
    """
    if not _is_staff(context) or limit_of(context["request"]) is not None:
        return {}
    check = MoneyCheck.objects.newest_whole()
    return {
        "none": check is None,
        "too_long_ago": check is not None and check.started_at < clock.now() - CHECK_MAX_AGE,
        "check": check,
        "may_look": context["user"].has_perm("payments.view_moneycheck"),
    }


@register.inclusion_tag("admin/payments/declinealert/alert.html", takes_context=True)
def decline_alert(context: template.Context) -> dict[str, Any]:
    """Return the alert's context for staff, of their merchants; nothing for others."""
    if not _is_staff(context):
        return {}
    of_theirs = within(limit_of(context["request"]), "merchant")
    alerts = list(DeclineAlert.objects.recent().filter(of_theirs)[: SHOWN + 1])
    may_look = context["user"].has_perm("payments.view_declinealert")
    return {"alerts": alerts[:SHOWN], "more": len(alerts) > SHOWN, "may_look": may_look}


def _is_staff(context: template.Context) -> bool:
    user = context.get("user")
    return bool(user and user.is_active and user.is_staff)
