"""Takes every turn of the host, writes a line, and holds them until it ends: `python -m tests.holds_turns FILE…`."""

import sys
from contextlib import ExitStack
from pathlib import Path

from payments.concurrency import host_turns

host_turns.FILES = [Path(name) for name in sys.argv[1:]]

if __name__ == "__main__":
    with ExitStack() as held:
        for _ in host_turns.FILES:
            held.enter_context(host_turns.host_turn())
        print("held", flush=True)
        sys.stdin.read()
