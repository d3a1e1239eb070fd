"""What the quickstart can be told."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from payments.quickstart.servers.places import data_folder

DESCRIPTION = "Starts kaha with a database, a web server and a worker of its own, and takes a first payment."


@dataclass(frozen=True)
class Options:
    """`data` is absolute; port 0 stands for any free one."""

    data: Path
    port: int
    json: bool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give a parser the quickstart's arguments."""
    parser.add_argument("--data", metavar="DIR", help="where everything is kept (default: $KAHA_DATA, or .kaha)")
    parser.add_argument("--port", type=_port, default=8000, help="the port on 127.0.0.1; 0 picks a free one (8000)")
    parser.add_argument("--json", action="store_true", help="print one line of JSON when ready, all else on stderr")


def parse(arguments: list[str]) -> Options:
    """Read the arguments after `quickstart`; ends the process with a usage line where they are wrong."""
    parser = argparse.ArgumentParser(prog="manage.py quickstart", description=DESCRIPTION)
    add_arguments(parser)
    given = parser.parse_args(arguments)
    data = Path(given.data).absolute() if given.data else data_folder()
    return Options(data=data, port=given.port, json=given.json)


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: 0 to 65535")
    return int(text)
