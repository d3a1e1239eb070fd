"""The command `kaha`: puts its parts together."""

import re
import sys

import click

from kaha_cli import VERSION
from kaha_cli.charges import charges
from kaha_cli.command import example
from kaha_cli.listen import listen
from kaha_cli.login import list_profiles, login, logout
from kaha_cli.payouts import balance, payouts
from kaha_cli.tails import events, logs
from kaha_cli.trigger import trigger

LOOKS_LIKE_A_KEY = re.compile(r"[srp]k_(live|test)_")


@click.group(
    epilog=example("kaha login", "kaha listen --forward-to http://localhost:3000/hook", "kaha trigger charge.failed"),
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(VERSION, prog_name="kaha")
@click.option(
    "--profile", envvar="KAHA_PROFILE", metavar="NAME", help="Whose key and address: a profile of `kaha login`."
)
@click.pass_context
def kaha(context: click.Context, profile: str | None) -> None:
    """Try a payments integration from the command line.

    The key and the service's address come from KAHA_KEY and KAHA_URL, or from a profile. Exit codes: 0 done,
    1 refused by the service, 2 wrong usage, 3 the service cannot be reached.
    """
    context.obj = profile


for command in (login, logout, list_profiles, listen, trigger, events, logs, charges, payouts, balance):
    kaha.add_command(command)


def main() -> None:
    """Run the command that the arguments name."""
    # Before anything parses them, because a message about a wrong argument would repeat it.
    if any(LOOKS_LIKE_A_KEY.search(argument) for argument in sys.argv[1:]):
        click.echo(
            "Error: A key on the command line is seen by every user of this machine. Put it into KAHA_KEY, or run "
            "`kaha login`. If the machine is not yours alone, roll that key.",
            err=True,
        )
        sys.exit(2)
    kaha(prog_name="kaha")
