"""The page On call: what is wrong with the service and what to do, the workers, and their sweeps."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from payments.admin.framework.merchant_access import limit_of
from payments.admin.framework.object_actions import operator_of
from payments.health.examination import recent_examination
from payments.inbox.entries import in_words
from payments.sweeps.state import WorkerState, read_state
from payments.sweeps.table import SWEEPS


@dataclass(frozen=True, slots=True)
class SweepRow:
    """A sweep as the page shows it."""

    name: str
    every: str
    worked_at: datetime | None
    result: str
    is_wrong: bool
    oldest_due: str


def on_call(request: HttpRequest) -> HttpResponse:
    """Return the page, for operators who work for all merchants: findings name them."""
    if limit_of(request) is not None or not operator_of(request).has_perm("payments.view_sweep"):
        raise PermissionDenied
    examination, state = recent_examination.get(), read_state()
    context = admin.site.each_context(request) | {
        "title": "On call",
        "is_well": examination.is_well,
        "found": [(check, settings.PUBLIC_URL + check.guide, found) for check, found in examination.found],
        "in_order": examination.in_order,
        "workers": [(worker, worker in state.alive) for worker in state.workers],
        "sweeps": list(_rows(state)),
    }
    return TemplateResponse(request, "admin/payments/on_call.html", context)


def _rows(state: WorkerState) -> Iterator[SweepRow]:
    behind = {each.sweep.name: each.why for each in state.behind()}
    for sweep in state.sweeps:
        yield SweepRow(
            str(sweep),
            in_words(timedelta(seconds=SWEEPS[sweep.name].seconds)),
            sweep.worked_at,
            behind.get(sweep.name) or sweep.error or ("worked" if sweep.finished_at else "not run yet"),
            bool(behind.get(sweep.name) or sweep.error),
            in_words(state.now - sweep.oldest_due_at) if sweep.oldest_due_at else "",
        )
