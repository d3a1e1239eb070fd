"""Messages of the simulator, applied to charges and payouts."""

import logging
from collections.abc import Collection

from payments.db.writes import StaleRow
from payments.domain.bulkheads import ProviderBusy
from payments.domain.charging import attempts, recovery
from payments.domain.disputes import record as disputes
from payments.domain.payouts import send
from payments.domain.payouts.outcomes import CannotBeTrue
from payments.models import Attempt, Payout
from payments.providers.base import NotSent, Report, Unknown
from payments.providers.disputes import Disputed
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
    if report.dispute is None and report.outcome is None:
        return _look_up_payout(report)
    if not isinstance(report.dispute, Disputed):
        recovery.apply_report(report)
        return True
    try:
        disputes.record(attempts.reload(Attempt.objects.get(id=report.reference)), report.dispute)
    except disputes.NotNow:
        return False
    except disputes.CannotBeTrue as reason:
        logger.warning("dispute contradicts its charge", extra={"attempt": report.reference, "why": str(reason)})
    return True


def _look_up_payout(report: Report) -> bool:
    """Look up the payout that a report names; return False where it must come again."""
    payout = Payout.objects.filter(id=report.reference).first()
    if payout is None:
        logger.warning("report of an unknown payout", extra={"payout": report.reference})
        return True
    try:
        answer = send.look_up(payout)
    except (ProviderBusy, StaleRow):
        return False
    except CannotBeTrue as reason:
        logger.warning("payout contradicts its provider", extra={"payout": report.reference, "why": str(reason)})
        return True
    return not isinstance(answer, NotSent | Unknown)
