"""Prints figures as JSON, from servers that are started for them and thrown away."""

import argparse
import json
import sys

from tests.figures.scratch import scratch_servers

FIGURES = ("schedule", "crashes", "throughput", "fairness")


def main(name: str) -> None:
    with scratch_servers() as places:
        from tests.figures.crashes import crashes
        from tests.figures.fairness import fairness
        from tests.figures.schedule import on_schedule
        from tests.figures.throughput import throughput

        figure = {
            "schedule": lambda: on_schedule(events=10_000, most_failures=5),
            "crashes": lambda: crashes(places.data, events=5_000, kills=20),
            "throughput": lambda: throughput(events=5_000, rounds=5),
            "fairness": lambda: fairness(places.data, hanging=1_000, events=300, timeout_seconds=60),
        }[name]
        json.dump(figure(), sys.stdout, indent=2)
        print()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.figures", description=__doc__)
    parser.add_argument("figure", choices=FIGURES)
    main(parser.parse_args().figure)
