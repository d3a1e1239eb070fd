"""What providers tell by themselves, taken and recorded."""

from collections.abc import Collection

from payments.domain.charging import recovery
from payments.providers.simulator.connector import Simulator

BATCH = 100


def hear_simulator(limit: int = BATCH, among: Collection[str] | None = None) -> int:
    """Takes the simulator's own messages, which a real provider would send by webhook; returns how many.

    At most `limit`; with `among`, only those about what we call by these references.
    """
    simulator = Simulator()
    reports = simulator.due_reports(limit, among)
    for report in reports:
        recovery.apply_report(report)
        simulator.acknowledge(report)
    return len(reports)
