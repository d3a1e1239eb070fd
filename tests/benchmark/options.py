"""What the benchmark can be told."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from tests.benchmark.parts import AMONG_SEEDED, TRIALS, Part, Trial, among_seeded

DESCRIPTION = (
    "Measures the whole service on a scratch database, beside what the database and the web server can do at most. "
    "TMPDIR says on which disk."
)


@dataclass(frozen=True)
class Options:
    """What is measured, how often, for how long each time, over how many connections, and after how many charges."""

    trials: Sequence[Trial]
    rounds: int
    seconds: float
    connections: int
    charges: int
    json: bool

    @property
    def parts(self) -> Sequence[Part]:
        """Those of the trials that are requests to the service."""
        return [trial for trial in self.trials if isinstance(trial, Part)]

    def asks_for(self, *names: str) -> bool:
        return any(trial.name in names for trial in self.trials)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give a parser the benchmark's arguments."""
    names = ",".join(TRIALS)
    parser.add_argument("--only", type=_trials, default=[], metavar="PARTS", help=f"of {names}")
    parser.add_argument("--rounds", type=_whole, default=5, metavar="N", help="how often each is measured (5)")
    parser.add_argument("--seconds", type=_seconds, default=5.0, metavar="S", help="for how long each time (5)")
    parser.add_argument("--connections", type=_whole, default=16, metavar="N", help="how many requests at once (16)")
    parser.add_argument("--charges", type=int, default=0, metavar="N", help="beside so many seeded charges (0)")
    parser.add_argument("--json", action="store_true", help="print JSON in place of the table")


def parse(arguments: list[str]) -> Options:
    """Read the arguments of the command; ends the process with a usage line where they are wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmark", description=DESCRIPTION)
    add_arguments(parser)
    given = parser.parse_args(arguments)
    trials = given.only or [trial for trial in TRIALS.values() if _is_usual(trial, given.charges)]
    if given.charges:
        trials = [among_seeded(trial) for trial in trials]
    elif any(isinstance(trial, Part) and trial.seeded for trial in trials):
        parser.error("the pages of seeded charges want --charges")
    return Options(trials, given.rounds, given.seconds, given.connections, given.charges, given.json)


def _is_usual(trial: Trial, charges: int) -> bool:
    """Whether it is measured unless others are asked for: with seeded charges, what shall not know of them."""
    return trial.name in AMONG_SEEDED if charges else trial.usual


def _trials(text: str) -> list[Trial]:
    names = set(text.split(","))
    if unknown := names - TRIALS.keys():
        raise argparse.ArgumentTypeError(f"no part: {', '.join(sorted(unknown))}; there are {', '.join(TRIALS)}")
    return [trial for name, trial in TRIALS.items() if name in names]


def _whole(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to 1000")
    return int(text)


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0.1 <= seconds <= 3600:
        raise argparse.ArgumentTypeError(f"{text!r} is not from 0.1 to 3600")
    return seconds
