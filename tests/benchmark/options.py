"""The options of a run."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from tests.benchmark.parts import AMONG_SEEDED, PARTS, Part

DESCRIPTION = (
    "Measures the whole service on a scratch database, beside what the database and the web server can do at most. "
    "TMPDIR says on which disk."
)


@dataclass(frozen=True)
class Options:
    """What is measured, how often, for how long each time, over how many connections, and after how many charges."""

    parts: Sequence[Part]
    rounds: int
    seconds: float
    connections: int
    charges: int

    def asks_for(self, name: str) -> bool:
        return any(part.name == name for part in self.parts)


def parse(arguments: list[str]) -> Options:
    """Read the arguments of the command; end the process with a usage line where they are wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmark", description=DESCRIPTION)
    parser.add_argument("--only", type=_parts, default=[], metavar="PARTS", help=f"of {','.join(PARTS)}")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="how often each is measured (5)")
    parser.add_argument("--seconds", type=float, default=5.0, metavar="S", help="for how long each time (5)")
    parser.add_argument("--connections", type=int, default=16, metavar="N", help="how many requests at once (16)")
    parser.add_argument("--charges", type=int, default=0, metavar="N", help="beside so many seeded charges (0)")
    given = parser.parse_args(arguments)
    # With seeded charges, those that must be as fast as on an empty database.
    usual = [part for part in PARTS.values() if (part.name in AMONG_SEEDED if given.charges else not part.seeded)]
    parts = given.only or usual
    if given.charges:
        parts = [part.among_seeded() for part in parts]
    elif any(part.seeded for part in parts):
        parser.error("the pages of seeded charges want --charges")
    return Options(parts, given.rounds, given.seconds, given.connections, given.charges)


def _parts(text: str) -> list[Part]:
    names = set(text.split(","))
    if unknown := names - PARTS.keys():
        raise argparse.ArgumentTypeError(f"no part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    return [part for name, part in PARTS.items() if name in names]
