"""Messages of the simulator, applied to charges."""

from collections.abc import Collection

from payments.domain.charging import recovery
from payments.providers.simulator.connector import Simulator

BATCH = 100


def apply_simulator_messages(limit: int = BATCH, among: Collection[str] | None = None) -> int:
    """Apply the simulator's messages, which a real provider would send by webhook; return how many.

    At most `limit`; with `among`, only those about what we call by these references.
    """
    simulator = Simulator()
    reports = simulator.due_reports(limit, among)
    for report in reports:
        recovery.apply_report(report)
        simulator.acknowledge(report)
    return len(reports)
