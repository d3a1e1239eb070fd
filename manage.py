#!/usr/bin/env python
"""Every command of kaha: `.uv/bin/uv run manage.py help` lists them."""

import os
import sys

from config.logs.command_output import status_of_act
from config.logs.outputs import protect_standard_error
from payments import described
from payments.embedded.commands import database_for
from payments.embedded.processes import EmbeddedError
from payments.metrics.folder import folder_for


def main() -> None:
    protect_standard_error()
    with status_of_act(sys.argv[1:]):
        run()


def run() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if sys.argv[1:2] in (["version"], ["--version"]):
        # Django would print its own, and settings may be what is being looked for.
        print(described())
        return
    if sys.argv[1:2] == ["quickstart"]:
        # It decides what the settings will read, so it runs before anything reads them.
        from payments.quickstart import command

        sys.exit(command.main(sys.argv[2:]))
    try:
        with database_for(sys.argv[1:]), folder_for(sys.argv[1:]):
            from django.core.management import execute_from_command_line

            from payments.db.backend import allow_work

            # The processes of the web server are copies of this one, and answer requests.
            if sys.argv[1:2] != ["web"]:
                allow_work()
            execute_from_command_line(sys.argv)
    except EmbeddedError as error:
        sys.exit(f"kaha: {error}")


if __name__ == "__main__":
    main()
