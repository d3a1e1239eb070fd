"""A merchant's receiver that writes the ID of each event to a file before it answers."""

import sys
import time
from pathlib import Path

from tests.figures.failover.cluster.kaha import RECEIVER_PORT
from tests.support.receiver import Call, Receiver


def main(file: Path) -> None:
    """Answer until this process is ended."""
    with file.open("a", buffering=1) as noted:

        def note(call: Call) -> int:
            noted.write(f"{call.event_id}\n")
            return 200

        with Receiver(note, port=RECEIVER_PORT):
            while True:
                time.sleep(60)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
