"""Measures how fast kaha is, beside servers that are measured in the same minutes."""

import json
import os
import signal
import sys
from contextlib import ExitStack
from typing import Any

from payments.embedded.processes import EmbeddedError
from tests.benchmark.options import parse
from tests.benchmark.servers import main_service, started_service
from tests.support.processes import Failed

# A provider account may hold 30 % of a web process's threads, and here one holds 80 threads and more.
SLOW = {"SIMULATOR_LATENCY_SECONDS": "1", "WEB_THREADS": "400"}


def main(arguments: list[str]) -> int:
    """Run the benchmark. Return the exit code: 1 where the books are wrong too."""
    if arguments[:1] == ["calls"]:
        os.execv(sys.executable, [sys.executable, "-m", "tests.benchmark.calls", *arguments[1:]])
    options = parse(arguments)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup wants it ignored
            signal.signal(number, _end)
    print("kaha: starting kaha on a scratch database", file=sys.stderr)
    try:
        with ExitStack() as cleanup:
            beside = {}
            if options.charges:
                beside["empty"] = cleanup.enter_context(started_service())
            if options.asks_for("slow"):
                beside["slow"] = cleanup.enter_context(started_service(**SLOW))
            service = cleanup.enter_context(main_service())
            # They use Django's models, which need the settings that the service has just made.
            from tests.benchmark.run import run

            found = run(options, service, beside)
    except (EmbeddedError, Failed) as error:
        print(f"kaha: {error}", file=sys.stderr)
        return 1
    print(json.dumps(found, indent=2))
    return 0 if found["books"]["in_order"] else 1


def _end(number: int, frame: Any) -> None:
    """End everything that was started; a second signal does not cut that short."""
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, signal.SIG_IGN)
    sys.exit(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
