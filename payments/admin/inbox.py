"""What needs attention: on the first page the most urgent of it, and on a page of its own all, one's own first."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from payments import clock
from payments.admin.figures.breakdowns import MAY_LOOK
from payments.admin.framework.merchant_access import limit_of
from payments.admin.framework.object_actions import operator_of
from payments.admin.lists.mode import MODES, mode_of
from payments.inbox.entries import Sort
from payments.inbox.sections import assigned_to, sections_of
from payments.inbox.sorts import APPROVALS, MONEY_CHECK, WORKERS
from payments.inbox.summary import count_of, in_number, keep_count, summary_of
from payments.models import MoneyCheck
from payments.models.merchants.merchant_access import Limit
from payments.overview.trade import has_charges

# Of the sorts with nothing to do.
NAMED_MAX = 3
# The lists of one's own that wait for oneself.
WAITS_FOR_ONE = 2
# Further nobody counts at a glance.
COUNTED_MAX = 99


def inbox(request: HttpRequest) -> HttpResponse:
    """Return the page; everybody who may sign in has one."""
    user, limit = operator_of(request), limit_of(request)
    mine, sections = assigned_to(user, limit), sections_of(user, limit)
    own = {f"{APPROVALS}:{entry.key}" for _, entries in mine for entry in entries}
    others = sum(section.things for section in sections if section.sort.name != APPROVALS)
    keep_count(user, limit, others + sum(len(entries) for _, entries in mine[:WAITS_FOR_ONE]))
    context = admin.site.each_context(request) | {
        "title": "Inbox",
        "mine": mine,
        # What is theirs stands above.
        "sections": [
            replace(section, entries=[entry for entry in section.entries if entry.key not in own])
            for section in sections
        ],
        "well": _well([section.sort for section in sections if not section.count], limit),
    }
    return TemplateResponse(request, "admin/payments/inbox.html", context)


def open_entries(request: HttpRequest) -> str:
    """Return how many entries the navigation says are open, as it was counted within minutes; "" for none."""
    count = count_of(operator_of(request), limit_of(request))
    return f"{COUNTED_MAX}+" if count > COUNTED_MAX else f"{count or ''}"


def home(request: HttpRequest) -> dict[str, Any]:
    """Return what begins the first page: what needs the operator, or the first tasks where there is no charge yet."""
    user, limit, mode = operator_of(request), limit_of(request), mode_of(request)
    if limit is not None and not limit:
        return {"works_for_none": True}
    summary = summary_of(user, limit, MODES[mode])
    shown = {
        "summary": summary,
        "more": summary.count - len(summary.entries),
        "well": _well(summary.well, limit),
        "now": clock.now(),
        "chosen_mode": mode,
    }
    may_begin = user.has_perm(MAY_LOOK) and not summary.is_work
    is_new = may_begin and not has_charges(MODES[mode], limit)
    return shown | (_first_tasks(user, limit, mode) if is_new else {})


def _first_tasks(user: User, limit: Limit, mode: str) -> dict[str, Any]:
    """Return which tasks there are beside a payment, and their headline."""
    may_invite, may_seed = user.has_perm("auth.add_user"), limit is None and mode == "test"
    count = 1 + may_invite + may_seed
    ways = "Begin with a payment" if count == 1 else f"{in_number(count).capitalize()} ways to begin"
    return {
        "welcome": f"Welcome, {user.get_short_name() or user.get_username()}. {ways}",
        "guides": settings.PUBLIC_URL + "/docs/guides",
        "may_invite": may_invite,
        "may_seed": may_seed,
    }


def _well(quiet: Sequence[Sort], limit: Limit) -> str:
    """Return what is well in few words, with the last check of the money, and how much else is; empty for nothing."""
    ledger = _in_order(MoneyCheck.objects.newest_whole()) if limit is None else ""
    # What was not looked at is not well: no check of the money yet, or the workers, which work for all merchants.
    unseen = {WORKERS, MONEY_CHECK} if limit is not None else set() if ledger else {MONEY_CHECK}
    words = [ledger if sort.name == MONEY_CHECK else sort.well for sort in quiet if sort.name not in unseen]
    named = list(filter(None, words))[:NAMED_MAX]
    more = len(words) - len(named)
    return ", ".join([*named, f"and {more} more"] if named and more else named)


def _in_order(check: MoneyCheck | None) -> str:
    if check is None or check.failures:
        return ""
    local = timezone.localtime(check.started_at)
    day = "" if local.date() == timezone.localdate(clock.now()) else f" on {local:%d %b}"
    return f"ledger in order at {local:%H:%M}{day}"
