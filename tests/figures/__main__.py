"""Prints figures as JSON, from servers that are started for them and thrown away."""

import argparse
import json
import secrets
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from inspect import signature
from typing import Any

from tests.figures.failover.faults import FAULTS
from tests.neighbours.offences import OFFENCES
from tests.support.scratch import scratch_servers


@dataclass(frozen=True)
class Figure:
    """A function `module:name`, and the defaults of the sizes that it is called with.

    `choices` are options with their values, the first of which is the default; `several` are options of which any
    number is named; a `seeded` function takes a seed; one without `has_servers` needs no servers. A function that has
    a parameter `folder` or `folders` gets the servers'.
    """

    function: str
    sizes: Mapping[str, int]
    seeded: bool = False
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    several: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    has_servers: bool = True


FIGURES = {
    "schedule": Figure("tests.figures.webhooks.schedule:on_schedule", {"events": 10_000, "most_failures": 5}),
    "crashes": Figure("tests.figures.webhooks.crashes:crashes", {"events": 5_000, "kills": 20}),
    "throughput": Figure("tests.figures.webhooks.throughput:throughput", {"events": 5_000, "rounds": 5}),
    "fairness": Figure(
        "tests.figures.webhooks.fairness:fairness",
        {"hanging": 2_340, "receivers": 90, "events": 300, "timeout_seconds": 120},
    ),
    "refunds": Figure("tests.figures.money.races:refunds", {"rounds": 1_000, "clients": 50}, seeded=True),
    "sources": Figure("tests.figures.money.races:sources", {"rounds": 1_000, "clients": 50}, seeded=True),
    "keys": Figure("tests.figures.money.races:keys", {"rounds": 200, "clients": 100}, seeded=True),
    "resending": Figure("tests.figures.money.repeated_requests:resending", {"orders": 1_000}, seeded=True),
    "database": Figure("tests.figures.money.database:database", {"kills": 10}, seeded=True),
    "histories": Figure("tests.figures.money.histories:histories", {"histories": 10_000}, seeded=True),
    "card_texts": Figure(
        "tests.figures.inputs.card_texts:card_texts", {"texts": 1_000_000}, seeded=True, has_servers=False
    ),
    "rotation": Figure("tests.figures.operations.rotation:rotation", {"cards": 100_000, "traders": 2}),
    "patterns": Figure("tests.figures.inputs.patterns:patterns", {"characters": 1_000_000}),
    "memory": Figure("tests.figures.operations.memory:memory", {"requests": 200_000}),
    "starting": Figure("tests.figures.operations.start_times:starting", {"rounds": 5}),
    "traces": Figure("tests.figures.operations.traces:traces", {"rounds": 20, "charges": 50}),
    "costs": Figure("tests.figures.operations.costs:costs", {"charges": 5_000}),
    "two_hosts": Figure("tests.figures.operations.two_hosts:two_hosts", {"rounds": 10, "charges": 800}),
    "vacuum": Figure("tests.figures.operations.vacuum:vacuum", {"minutes": 60, "stretches": 12}),
    "fuzz": Figure("tests.figures.inputs.fuzz:fuzz", {"cases": 100_000, "first_batch": 0}, seeded=True),
    "office": Figure("tests.figures.back_office.page_times:office", {"charges": 1_000_000, "stories": 1_000}),
    "screenshots": Figure("tests.figures.back_office.screenshots:screenshots", {"charges": 1_500}),
    "paint": Figure("tests.figures.back_office.paint:paint", {"charges": 1_500}),
    "faults": Figure(
        "tests.figures.money.faults:faults",
        {"operations": 10_000, "first_history": 0},
        seeded=True,
        choices={"of": ("charges", "checkouts", "collected")},
    ),
    "neighbours": Figure(
        "tests.figures.operations.neighbours:neighbours",
        {"quiet_seconds": 20, "seconds": 30},
        choices={"only": ("all", *OFFENCES)},
    ),
    "failover": Figure(
        "tests.figures.failover.figure:failover",
        {"rounds": 10, "seconds": 45},
        seeded=True,
        several={"only": tuple(FAULTS)},
    ),
    "ambiguous": Figure(
        "tests.figures.money.ambiguous:ambiguous",
        {"answers": 2_000, "first_life": 0},
        seeded=True,
        choices={"provider": ("xendit", "adyen")},
    ),
}


def main(arguments: Mapping[str, Any]) -> None:
    """Print the figure that `arguments` name, with the sizes that they give."""
    chosen = dict(arguments)
    figure = FIGURES[chosen.pop("figure")]
    if figure.has_servers:
        with scratch_servers() as folders:
            found = _measure(figure, chosen, {"folder": folders.data, "folders": folders})
    else:
        found = _measure(figure, chosen, {})
    json.dump(found, sys.stdout, indent=2)
    print()


def _measure(figure: Figure, chosen: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    # Imported only now, because most modules need the settings, which exist once the servers run.
    module, name = figure.function.split(":")
    function = getattr(import_module(module), name)
    return function(**chosen, **{name: given[name] for name in given.keys() & signature(function).parameters})


def parser_of_figures() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.figures", description=__doc__)
    figures = parser.add_subparsers(dest="figure", required=True)
    for name, figure in FIGURES.items():
        options = figures.add_parser(name, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
        for size, default in figure.sizes.items():
            options.add_argument(f"--{size.replace('_', '-')}", type=int, default=default, help="size")
        for choice, names in figure.choices.items():
            options.add_argument(f"--{choice}", choices=names, default=names[0], help="which one")
        for several, names in figure.several.items():
            chosen = partial(_chosen, names)
            options.add_argument(f"--{several}", type=chosen, default=list(names), help=f"of {','.join(names)}")
        if figure.seeded:
            seed = secrets.randbelow(2**32)
            options.add_argument("--seed", type=int, default=seed, help="of all that is left to chance")
    return parser


def _chosen(names: Sequence[str], text: str) -> list[str]:
    """Return the names in `text`, which are separated by commas. Raises ArgumentTypeError for one there is not."""
    chosen = text.split(",")
    if unknown := set(chosen) - set(names):
        raise argparse.ArgumentTypeError(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    return chosen


if __name__ == "__main__":
    main(vars(parser_of_figures().parse_args()))
