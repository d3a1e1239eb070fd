#!/usr/bin/env python
"""Every command of kaha: `uv run manage.py help` lists them."""

import os
import sys
from importlib import import_module

from config.outputs import protect_standard_error
from payments.quickstart.servers.commands import database_for
from payments.quickstart.servers.processes import EmbeddedError

# They decide what the settings will read, so they run before anything reads them.
BEFORE_SETTINGS = {"quickstart": "payments.quickstart.command", "benchmark": "config.benchmark"}


def main() -> None:
    protect_standard_error()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name in BEFORE_SETTINGS:
        sys.exit(import_module(BEFORE_SETTINGS[name]).main(sys.argv[2:]))
    try:
        with database_for(sys.argv[1:]):
            from django.core.management import execute_from_command_line

            from payments.db.backend import allow_work

            allow_work()
            execute_from_command_line(sys.argv)
    except EmbeddedError as error:
        sys.exit(f"kaha: {error}")


if __name__ == "__main__":
    main()
