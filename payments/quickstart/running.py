"""The quickstart from beginning to end. It loads no Django itself: its programs do, several at once."""

import os
import sys
from contextlib import ExitStack

from payments.quickstart import banner, ports
from payments.quickstart.options import Options
from payments.quickstart.payment import take_first_payment
from payments.quickstart.programs import Programs
from payments.quickstart.servers.errors import EmbeddedError
from payments.quickstart.servers.ownership import owner_lock
from payments.quickstart.servers.places import Places, make_running_folders, prepare
from payments.quickstart.supervisor import Supervisor


def run(options: Options, supervisor: Supervisor) -> None:
    """Start everything, take the first payment, show what there is, and watch until the end; then stop all.

    Raises Stopped, or Failed or EmbeddedError with the reason.
    """
    with ExitStack() as cleanup:
        port = cleanup.enter_context(ports.claim(options.port)).getsockname()[1]
        places = prepare(options.data)
        _own(places, cleanup)
        print(f"kaha: starting; the data folder is {places.data}", file=sys.stderr)
        make_running_folders(places)
        programs = Programs(places, port, supervisor)
        cleanup.callback(programs.stop)
        ready = banner.Ready(port, programs.start(), programs.folders())
        _show(ready, options.json)
        supervisor.run_until_stopped()


def _own(places: Places, cleanup: ExitStack) -> None:
    lock = cleanup.enter_context(owner_lock(places.data))
    if not lock.try_alone():
        raise EmbeddedError(
            f"the data folder {places.data} is in use by {lock.read()}: stop that, or choose another with --data."
        )
    lock.write(f"process {os.getpid()} (quickstart)")


def _show(ready: banner.Ready, as_json: bool) -> None:
    steps = take_first_payment(ready.port, ready.demo["sk_test"])
    lines = [banner.heading("A first payment, just taken through the API"), *banner.payment_lines(steps), ""]
    print("\n".join(lines), file=sys.stderr if as_json else sys.stdout)
    print(banner.as_json(ready) if as_json else "\n".join(banner.ready_lines(ready)), flush=True)
