"""The page of everything that needs attention, and the operator's own things first."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from payments.admin.framework.merchant_access import limit_of
from payments.admin.framework.object_actions import operator_of
from payments.inbox.sections import assigned_to, sections_of

# Of one's own things on the first page.
OWN_SHOWN = 5


def inbox(request: HttpRequest) -> HttpResponse:
    """Return the page; everybody who may sign in has one."""
    user, limit = operator_of(request), limit_of(request)
    context = admin.site.each_context(request) | {
        "title": "Inbox",
        "mine": assigned_to(user, limit),
        "sections": sections_of(user, limit),
    }
    return TemplateResponse(request, "admin/payments/inbox.html", context)


def summary_of(request: HttpRequest) -> dict[str, Any]:
    """Return the inbox for the first page: the number of each sort with its most urgent entry, and one's own."""
    user, limit = operator_of(request), limit_of(request)
    mine = [entry for _, entries in assigned_to(user, limit)[:2] for entry in entries]
    return {"inbox": sections_of(user, limit), "mine": mine[:OWN_SHOWN], "more_of_mine": max(0, len(mine) - OWN_SHOWN)}
