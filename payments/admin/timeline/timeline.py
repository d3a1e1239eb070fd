"""All that came to pass with a charge, in order."""

from collections.abc import Callable

from payments.admin.timeline.changes import change_moments, ledger_moments, provider_moments
from payments.admin.timeline.moment import Moment, Moments
from payments.admin.timeline.outside import (
    callback_moments,
    payer_moments,
    provider_event_moments,
    report_moments,
    staff_moments,
)
from payments.admin.timeline.records import Records
from payments.admin.timeline.requests import request_moments

TELLERS: tuple[Callable[[Records], Moments], ...] = (
    request_moments,
    change_moments,
    provider_moments,
    provider_event_moments,
    ledger_moments,
    payer_moments,
    callback_moments,
    report_moments,
)


def timeline(records: Records, with_address: bool) -> list[Moment]:
    """The moments of a charge, the first one first; `with_address` tells from where people acted."""
    moments = [moment for teller in TELLERS for moment in teller(records)]
    moments += staff_moments(records, with_address)
    return sorted(moments, key=lambda moment: (moment.at, moment.kind))
