"""Proves that a rehearsal finds faults: `python -m tests.cli.rehearse.prove [twins|sound] [SEED…]`, by default all.

Each twin is to be caught within 50 buyers of each of ten seeds, and each sound shop to pass 500 of each. KAHA_URL has
a kaha with a test clock, KAHA_KEY a test key of it whose merchant does nothing else meanwhile. A line for each; ends
with 1 where one is not as it must be. A twin is stopped by Ctrl-C as soon as the first of its buyers is found.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

from tests.cli.rehearse.conftest import SECRET, addresses_of
from tests.cli.rehearse.shop import HoldingShop, Shop
from tests.cli.rehearse.twins import TWINS
from tests.cli.terminal import KAHA
from tests.support.http_server import Server

SEEDS = range(1, 11)
TWIN_BUYERS, SOUND_BUYERS = 50, 500
NONE_WRONG = " 0 served wrongly so far."


def main(what: str, seeds: list[int]) -> int:
    """Rehearse every shop with every seed; return the exit status."""
    as_wanted = True
    for seed in seeds:
        for kind in (TWINS if what != "sound" else []) + ([Shop, HoldingShop] if what != "twins" else []):
            began, is_twin = time.monotonic(), kind in TWINS
            status, lines = rehearsed(kind, seed, TWIN_BUYERS if is_twin else SOUND_BUYERS)
            as_wanted &= status == is_twin
            found = next((line for line in lines if line.startswith("Buyer ")), lines[0] if lines else "")
            print(f"seed {seed}  {kind.__name__}  {status}  {time.monotonic() - began:.0f} s  {found}", flush=True)
    return int(not as_wanted)


def rehearsed(kind: type[Shop], seed: int, buyers: int) -> tuple[int, list[str]]:
    """Return the exit status of a rehearsal, and what it printed."""
    shop = kind(os.environ["KAHA_URL"], os.environ["KAHA_KEY"], SECRET)
    server = Server(shop.answer)
    shop.address = server.address
    options = ["--seed", str(seed), "--buyers", str(buyers)]
    with server.serving():
        program = subprocess.Popen(
            ["env", "--default-signal=INT", KAHA, "rehearse", *addresses_of(shop), *options],
            env=os.environ | {"KAHA_WEBHOOK_SECRET": SECRET},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for line in _progress(program):
            if not line.endswith(NONE_WRONG):
                program.send_signal(signal.SIGINT)
                break
        out, _ = program.communicate()
        # A twin may break on a request that it does not expect.
        server.faults.clear()
    return program.returncode, out.splitlines()


def _progress(program: "subprocess.Popen[str]") -> Iterator[str]:
    assert program.stderr
    for line in program.stderr:
        if line.startswith("Day "):
            yield line.strip()


if __name__ == "__main__":
    which, *numbers = sys.argv[1:] or ["all"]
    sys.exit(main(which, [int(number) for number in numbers] or list(SEEDS)))
