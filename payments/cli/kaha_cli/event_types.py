"""The types of events, and the options that choose among them."""

from collections.abc import Callable
from fnmatch import fnmatchcase

import click

from kaha_cli.command import Function

EVENT_TYPES = (
    "charge.created",
    "charge.updated",
    "charge.succeeded",
    "charge.failed",
    "charge.captured",
    "refund.created",
    "refund.updated",
    "dispute.created",
    "dispute.updated",
    "dispute.closed",
    "payout.created",
    "payout.updated",
    "payout.paid",
    "payout.failed",
    "payout.cancelled",
    "customer.created",
    "customer.updated",
    "customer.deleted",
    "source.created",
    "source.updated",
    "source.deleted",
)


def chosen_types(context: click.Context, parameter: click.Parameter, value: str | None) -> frozenset[str]:
    """Return the types that a list like `charge.failed,refund.*` names; all of them for no list."""
    patterns = [pattern.strip() for pattern in (value or "*").split(",")]
    for pattern in patterns:
        if not any(fnmatchcase(kind, pattern) for kind in EVENT_TYPES):
            raise click.BadParameter(f"There is no event type {pattern}. There are: {', '.join(EVENT_TYPES)}.")
    return frozenset(kind for kind in EVENT_TYPES if any(fnmatchcase(kind, pattern) for pattern in patterns))


def types_option(flag: str) -> Callable[[Function], Function]:
    """Return the option `flag` of a command, which gives it `types`."""
    help_text = "Types, separated by commas; charge.* stands for all of charges. Default: all."
    return click.option(flag, "types", metavar="TYPES", callback=chosen_types, help=help_text)
