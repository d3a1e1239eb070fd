"""The timeline of a charge."""

from collections.abc import Callable

from payments.admin.timeline.changes import change_moments, ledger_moments, provider_moments
from payments.admin.timeline.moment import Moment, Moments
from payments.admin.timeline.outside import (
    payer_moments,
    provider_event_moments,
    report_moments,
    staff_moments,
    webhook_moments,
)
from payments.admin.timeline.records import Records
from payments.admin.timeline.requests import request_moments

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


def timeline(records: Records, with_address: bool) -> list[Moment]:
    """Return the entries of a charge's timeline in order, with the addresses of staff if `with_address`."""
    moments = [moment for read in TIMELINE_SOURCES for moment in read(records)]
    moments += staff_moments(records, with_address)
    return sorted(moments, key=lambda moment: (moment.at, moment.kind))
