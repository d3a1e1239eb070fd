"""One command that measures how fast kaha is, beside floors that are measured in the same minutes."""

import sys

from config.benchmark.options import parse
from config.benchmark.report import as_json, as_table
from config.benchmark.running import run
from payments.quickstart.servers.processes import EmbeddedError
from payments.quickstart.supervisor import Failed, Stopped, Supervisor


def main(arguments: list[str]) -> int:
    """Run the benchmark with the arguments after its name. Returns the exit code: 1 where the books are wrong too."""
    options = parse(arguments)
    try:
        report = run(options, Supervisor())
    except Stopped:
        return 1
    except (EmbeddedError, Failed) as error:
        print(f"kaha: {error}", file=sys.stderr)
        return 1
    print(as_json(report) if options.json else "\n".join(as_table(report)))
    return 0 if report.books.in_order else 1
