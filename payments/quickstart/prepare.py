"""Makes the database ready, with the demo merchant: `python -m payments.quickstart.prepare DEMO_FILE`.

It loads Django while the database still starts, and begins when its standard input is closed.
"""

import sys
from pathlib import Path

import django
from django.core.checks import run_checks
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor


def main(demo_file: Path) -> None:
    """End the process with the reason where the environment or the database does not do."""
    django.setup()
    from payments.db.backend import allow_work
    from payments.invariants import checks
    from payments.quickstart import demo_merchant

    sys.stdin.read()
    if faults := run_checks(tags=["configuration"]):
        sys.exit("\n".join(["kaha does not start:", *(f"  {fault.msg}" for fault in faults)]))
    allow_work()
    try:
        call_command("check", tags=["database"], databases=["default"])
        # The command itself takes its time, also where there is nothing to do.
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            call_command("migrate", verbosity=0, interactive=False)
    except (CommandError, OperationalError) as error:
        sys.exit(f"DATABASE_URL: {error}")
    demo_merchant.keep(demo_file)
    # The doctor asks for one from the first moment on.
    checks.run_if_due()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
