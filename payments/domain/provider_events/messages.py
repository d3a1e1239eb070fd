"""Messages of the simulator, applied to charges."""

import logging
from collections.abc import Collection

from payments.domain.charging import attempts, recovery
from payments.domain.disputes import record as disputes
from payments.models import Attempt
from payments.providers.base import Report
from payments.providers.simulator.connector import Simulator

BATCH = 100
logger = logging.getLogger("kaha.disputes")


def apply_simulator_messages(limit: int = BATCH, among: Collection[str] | None = None) -> int:
    """Apply the simulator's messages, which a real provider would send by webhook; return how many.

    At most `limit`; with `among`, only those about what we call by these references.
    """
    simulator = Simulator()
    reports = simulator.due_reports(limit, among)
    for report in reports:
        if _apply(report):
            simulator.acknowledge(report)
    return len(reports)


def _apply(report: Report) -> bool:
    """Apply a report; return False where it must come again."""
    if report.dispute is None:
        recovery.apply_report(report)
        return True
    try:
        disputes.record(attempts.reload(Attempt.objects.get(id=report.reference)), report.dispute)
    except disputes.NotNow:
        return False
    except disputes.CannotBeTrue as reason:
        logger.warning("dispute contradicts its charge", extra={"attempt": report.reference, "why": str(reason)})
    return True
