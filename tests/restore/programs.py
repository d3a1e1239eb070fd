"""A merchant's programs that pay, capture, void and refund until their input ends; run in a process of its own."""

import os
import sys
import threading
from itertools import count
from pathlib import Path
from random import Random

THREADS = 3
PAUSE_SECONDS = 0.2


def main(key: str, log: Path) -> None:
    """Write the ID of each charge that was acknowledged to `log`."""
    ended = threading.Event()
    programs = [threading.Thread(target=_pay, args=(key, log, ended, Random(seed))) for seed in range(THREADS)]
    for program in programs:
        program.start()
    sys.stdin.read()
    ended.set()
    for program in programs:
        program.join()


def _pay(key: str, log: Path, ended: threading.Event, chance: Random) -> None:
    from tests.client import Api

    api, charges = Api(key), []
    for number in count():
        if ended.is_set():
            return
        try:
            charges.append(api.charge(capture=bool(number % 3))["id"])
        except AssertionError:
            # A server that is busy with a backup may not have answered in time: nothing was acknowledged.
            ended.wait(PAUSE_SECONDS)
            continue
        with log.open("a") as file:
            file.write(f"{charges[-1]}\n")
        # Of an earlier charge as often as of a new one, so that the restore comes between the two.
        verb = chance.choice(["capture", "void", "refund"])
        body = {"amount": chance.randint(1, 3_000)} if verb == "refund" else None
        api.post(f"/charges/{chance.choice(charges)}/{verb}", body)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django
    from django.test.utils import setup_test_environment

    django.setup()
    # The host of the test client is allowed.
    setup_test_environment(debug=False)
    main(sys.argv[1], Path(sys.argv[2]))
