"""What the benchmark can be told."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from config.benchmark.parts import PARTS, Part

DESCRIPTION = (
    "Measures the whole service on a scratch database, beside what the database and the web server can do at most. "
    "TMPDIR says on which disk."
)


@dataclass(frozen=True)
class Options:
    """What is measured, how often, for how long each time, and over how many connections at once."""

    parts: Sequence[Part]
    rounds: int
    seconds: float
    connections: int
    json: bool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give a parser the benchmark's arguments."""
    names = ",".join(PARTS)
    parser.add_argument("--only", type=_parts, default=[*PARTS.values()], metavar="PARTS", help=f"of {names}")
    parser.add_argument("--rounds", type=_whole, default=5, metavar="N", help="how often each is measured (5)")
    parser.add_argument("--seconds", type=_seconds, default=5.0, metavar="S", help="for how long each time (5)")
    parser.add_argument("--connections", type=_whole, default=16, metavar="N", help="how many requests at once (16)")
    parser.add_argument("--json", action="store_true", help="print JSON in place of the table")


def parse(arguments: list[str]) -> Options:
    """Read the arguments after `benchmark`; ends the process with a usage line where they are wrong."""
    parser = argparse.ArgumentParser(prog="manage.py benchmark", description=DESCRIPTION)
    add_arguments(parser)
    given = parser.parse_args(arguments)
    return Options(given.only, given.rounds, given.seconds, given.connections, given.json)


def _parts(text: str) -> list[Part]:
    names = set(text.split(","))
    if unknown := names - PARTS.keys():
        raise argparse.ArgumentTypeError(f"no part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    return [part for name, part in PARTS.items() if name in names]


def _whole(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to 1000")
    return int(text)


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0.1 <= seconds <= 3600:
        raise argparse.ArgumentTypeError(f"{text!r} is not from 0.1 to 3600")
    return seconds
