"""The benchmark from beginning to end."""

import sys
from contextlib import ExitStack

from config.benchmark.contenders import Contenders, Field
from config.benchmark.figures import Figures, Spread, spreads
from config.benchmark.options import Options
from config.benchmark.report import Report
from config.benchmark.service import Service, scratch_service, service_beside
from payments.quickstart.supervisor import Supervisor

# What the provider of the part `slow` takes.
SLOW = {"SIMULATOR_LATENCY_SECONDS": "1"}


def run(options: Options, supervisor: Supervisor) -> Report:
    """Start the service, measure the chosen parts and their floors in turn, and hold the books against the answers.

    Raises Stopped, or Failed or EmbeddedError with the reason.
    """
    _say("starting kaha on a scratch database")
    with ExitStack() as cleanup:
        beside: dict[str, Service] = {}
        if options.charges:
            beside["empty"] = cleanup.enter_context(service_beside(supervisor))
        if options.asks_for("slow"):
            beside["slow"] = cleanup.enter_context(service_beside(supervisor, **SLOW))
        service = cleanup.enter_context(scratch_service(supervisor))
        field = Field(service, beside, options, supervisor, cleanup)
        figures = _in_turn(field.contenders(), options.rounds)
        _say("looking at the books")
        return Report(options, figures, field.books())


def _in_turn(contenders: Contenders, rounds: int) -> dict[str, dict[str, Spread]]:
    """What each came to, measure by measure; all have had a turn before any has the next."""
    figures: dict[str, list[Figures]] = {name: [] for name in contenders}
    for number in range(1, rounds + 1):
        for name, measure in contenders.items():
            figures[name].append(measure())
            _say(f"round {number} of {rounds}: {name}, {figures[name][-1].per_second:.0f} per second")
    return {name: spreads(measured) for name, measured in figures.items()}


def _say(text: str) -> None:
    print(f"kaha: {text}", file=sys.stderr)
