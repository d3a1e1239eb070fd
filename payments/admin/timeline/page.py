"""The page of a charge with its timeline."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from django.contrib.admin.utils import flatten_fieldsets
from django.db.models import QuerySet
from django.http import HttpRequest

from payments.admin.framework.change_audit import ViewRecorded
from payments.admin.framework.formats import chips, copyable, link, money, search_link
from payments.admin.framework.merchant_access import limit_of
from payments.admin.timeline.attempts import provider_moments
from payments.admin.timeline.changes import change_moments, ledger_moments, request_moments
from payments.admin.timeline.moment import Moment, Moments
from payments.admin.timeline.outside import (
    payer_moments,
    provider_event_moments,
    report_moments,
    staff_moments,
    webhook_moments,
)
from payments.admin.timeline.panels import panels_of
from payments.admin.timeline.possible_duplicates import possible_duplicates_of
from payments.admin.timeline.records import Records
from payments.admin.timeline.summary import is_pending, summary_of
from payments.models import Attempt, Charge, Event, Posting, Webhook

TIMELINE_SOURCES: tuple[Callable[[Records], Moments], ...] = (
    request_moments,
    change_moments,
    provider_moments,
    provider_event_moments,
    ledger_moments,
    payer_moments,
    webhook_moments,
    report_moments,
)

# The lists with everything that a timeline leaves out.
LISTS = (Event, Attempt, Webhook, Posting)
NOTABLE_SECONDS = 0.05
MINUTE_SECONDS = 60
MAY_SEE_PEOPLE = "payments.view_auditentry"


def timeline(records: Records, with_address: bool) -> list[Moment]:
    """Return the entries of a charge's timeline in order, with the addresses of staff if `with_address`."""
    moments = [moment for read in TIMELINE_SOURCES for moment in read(records)]
    moments += staff_moments(records, with_address)
    return sorted(moments, key=lambda moment: (moment.at, moment.kind))


class TimelinePage(ViewRecorded):
    """Shows the timeline on the page of a charge, for its ModelAdmin; the row's fields are collapsed."""

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        page: Any = super()
        fields = flatten_fieldsets(page.get_fieldsets(request, obj))
        return [("All fields", {"fields": fields, "classes": ("collapse",)})]

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        page: Any = self
        context["timeline"] = timeline_context(request, kwargs["obj"], page.get_queryset(request))
        return super().render_change_form(request, context, *args, **kwargs)


def timeline_context(request: HttpRequest, charge: Charge, charges: QuerySet[Any]) -> dict[str, Any]:
    """Return the context of the page, for an operator who may see `charges`."""
    records = Records(charge)
    sees_people = request.user.has_perm(MAY_SEE_PEOPLE) and limit_of(request) is None
    return {
        "id": copyable(str(charge)),
        "amount": money(charge.amount, charge.currency),
        "chips": chips(charge),
        "mode": "live" if charge.livemode else "test",
        "possible_duplicates": list(possible_duplicates_of(charge)),
        "summary": summary_of(request, records),
        "lists": [search_link(model, str(charge), str(model._meta.verbose_name_plural)) for model in LISTS],
        "is_pending": is_pending(charge),
        "moments": list(_with_gaps(timeline(records, with_address=sees_people))),
        "panels": panels_of(request, charge, charges),
        "refunds": [(link(type(row), row.pk, row), row, money(row.amount, row.currency)) for row in records.refunds],
        "disputes": [(link(type(row), row.pk, row), row, money(row.amount, row.currency)) for row in records.disputes],
        "views": records.views if sees_people else None,
        "more": records.more,
    }


def _with_gaps(moments: list[Moment]) -> Iterator[tuple[Moment, str]]:
    """Yield each entry with the time since the one before it, such as `+0.3 s`, if that is less than a minute."""
    before: datetime | None = None
    for moment in moments:
        seconds = (moment.at - before).total_seconds() if before else 0.0
        yield moment, f"+{seconds:.1f} s" if NOTABLE_SECONDS <= seconds < MINUTE_SECONDS else ""
        before = moment.at
