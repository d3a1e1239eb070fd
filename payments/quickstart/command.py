"""One command that starts kaha with everything it needs, for a newcomer or a merchant's own tests."""

import sys
from contextlib import suppress

from payments.quickstart.options import parse
from payments.quickstart.running import run
from payments.quickstart.servers.errors import EmbeddedError
from payments.quickstart.supervisor import Failed, Stopped, Supervisor


def main(arguments: list[str]) -> int:
    """Run the quickstart with the arguments after its name, until it is stopped. Returns the exit code."""
    options = parse(arguments)
    try:
        with suppress(Stopped):
            run(options, Supervisor())
    except (EmbeddedError, Failed) as error:
        print(f"kaha: {error}", file=sys.stderr)
        return 1
    return 0
