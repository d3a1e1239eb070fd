"""The command `kaha`: puts its parts together."""

import re
import sys

import click

from kaha_cli import VERSION
from kaha_cli.command import example
from kaha_cli.commands.charges import charges
from kaha_cli.commands.endpoints import endpoints
from kaha_cli.commands.listen import listen
from kaha_cli.commands.login import list_profiles, login, logout
from kaha_cli.commands.mcp import mcp
from kaha_cli.commands.payouts import balance, payouts
from kaha_cli.commands.receiver_check import check_receiver
from kaha_cli.commands.rehearse import rehearse
from kaha_cli.commands.tails import events, logs
from kaha_cli.commands.trigger import trigger
from kaha_cli.environment import check_text
from kaha_cli.failures import Misuse
from kaha_cli.output import note, prepare_streams, show_failure, unshown

LOOKS_SECRET = re.compile(r"[srpa]k_(live|test)_|whsec_")
# As shells say it of a program that Ctrl-C ended.
INTERRUPTED = 130


@click.group(
    epilog=example("kaha login", "kaha listen --forward-to http://localhost:3000/hook", "kaha trigger charge.failed"),
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(VERSION, prog_name="kaha")
@click.option(
    "--profile", metavar="NAME", help="A profile of `kaha login`: its key and address. Default: $KAHA_PROFILE."
)
@click.pass_context
def kaha(context: click.Context, profile: str | None) -> None:
    """Try a payments integration from the command line.

    The key and the service's address come from KAHA_KEY and KAHA_URL, or from a profile. Exit codes: 0 done,
    1 refused by the service, 2 wrong usage, 3 no answer of the service, 4 an answer that could not be shown.
    """
    context.obj = profile


PARTS = (
    *(login, logout, list_profiles, listen, check_receiver, rehearse, trigger, events, logs),
    *(charges, payouts, balance, endpoints, mcp),
)
for command in PARTS:
    kaha.add_command(command)


def main() -> None:
    """Run the command that the arguments name, and end with its exit code."""
    prepare_streams()
    sys.exit(_run(sys.argv[1:]))


def _run(arguments: list[str]) -> int:
    try:
        _check(arguments)
        # Not `kaha.main`, which ends with 1, refused by the service, where a pipe is closed or Ctrl-C is pressed.
        with kaha.make_context("kaha", arguments) as context:
            kaha.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as failure:
        return show_failure(failure)
    except OSError as error:
        # The output of --help.
        return show_failure(unshown(error))
    except (KeyboardInterrupt, click.Abort):
        note("Stopped.")
        return INTERRUPTED
    return 0


def _check(arguments: list[str]) -> None:
    """Raise Misuse for a secret or broken bytes, before a message about a wrong argument repeats them."""
    if any(LOOKS_SECRET.search(argument) for argument in arguments):
        raise Misuse(
            "A key or secret on the command line is seen by every user of this machine. Put a key into KAHA_KEY, or "
            "run `kaha login`; put a webhook secret into KAHA_WEBHOOK_SECRET. Roll it if the machine is shared."
        )
    for number, argument in enumerate(arguments, start=1):
        check_text(argument, f"Argument {number}")
