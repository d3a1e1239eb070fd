"""`manage.py quickstart` starts kaha with everything it needs, for a newcomer or a merchant's own tests.

It loads no Django itself: its programs do, side by side.
"""

import argparse
import sys
import time
from contextlib import ExitStack, closing, suppress
from pathlib import Path

from payments.embedded.folders import data_folder, make_running_folders, prepare
from payments.embedded.locks import FileLock
from payments.embedded.processes import EmbeddedError
from payments.quickstart import banner, ports
from payments.quickstart.payment import take_first_payment
from payments.quickstart.programs import Programs
from payments.quickstart.supervisor import Failed, Stopped, Supervisor, say

DESCRIPTION = "Starts kaha with a database, a web server and a worker of its own, and takes a first payment."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give a parser the quickstart's arguments."""
    parser.add_argument("--data", metavar="DIR", help="where everything is kept (default: $KAHA_DATA, or .kaha)")
    parser.add_argument("--port", type=_port, default=8000, help="the port on 127.0.0.1; 0 picks a free one (8000)")
    parser.add_argument("--demo", action="store_true", help="make a month of demo life, while all of it can be used")
    parser.add_argument("--json", action="store_true", help="print one line of JSON when ready, all else on stderr")


def main(arguments: list[str]) -> int:
    """Run the quickstart with the arguments after its name, until it is stopped. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="manage.py quickstart", description=DESCRIPTION)
    add_arguments(parser)
    options = parser.parse_args(arguments)
    data = Path(options.data).absolute() if options.data else data_folder()
    try:
        with suppress(Stopped):
            run(data, options.port, Supervisor(), as_json=options.json, with_demo=options.demo)
    except (EmbeddedError, Failed) as error:
        print(f"kaha: {error}", file=sys.stderr)
        return 1
    return 0


def run(data: Path, port: int, supervisor: Supervisor, *, as_json: bool, with_demo: bool) -> None:
    """Start everything, take the first payment, show what there is, and watch until the end; then stop all.

    Raises Stopped, or Failed or EmbeddedError with the reason.
    """
    with ExitStack() as cleanup:
        port = cleanup.enter_context(ports.claim(port)).getsockname()[1]
        folders = prepare(data)
        lock = cleanup.enter_context(closing(FileLock(folders.data / "server.lock")))
        if not lock.take():
            raise EmbeddedError(
                f"the data folder {folders.data} is in use by {lock.owner()}: stop that, or choose another with --data."
            )
        lock.write_owner("quickstart")
        say(f"starting; the data folder is {folders.data}")
        make_running_folders(folders)
        programs = Programs(folders, port, supervisor)
        cleanup.callback(programs.stop)
        demo = programs.start()
        say("taking a first payment")
        steps = list(take_first_payment(port, demo["sk_test"]))
        ready = banner.Ready(port, demo, programs.folders())
        lines = [banner.heading("A first payment, just taken through the API"), *banner.payment_lines(steps), ""]
        print("\n".join(lines), file=sys.stderr if as_json else sys.stdout)
        print(banner.as_json(ready) if as_json else "\n".join(banner.ready_lines(ready)), flush=True)
        if with_demo:
            _make_month(programs, ready)
        supervisor.run_until_stopped()


def _make_month(programs: Programs, ready: banner.Ready) -> None:
    say("making a month of demo life; all of the above works meanwhile")
    began = time.monotonic()
    programs.make_month()
    seconds = time.monotonic() - began
    say(f"a month of demo life is there after {seconds:.0f} s: {ready.api}/merchant/")


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: 0 to 65535")
    return int(text)
