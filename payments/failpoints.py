"""Failpoints: named points in the flow of money at which tests can kill a process."""

from collections.abc import Callable
from enum import StrEnum


class Failpoint(StrEnum):
    """The failpoints in order: of an operation on a charge, deliveries, a settlement, the log, a request, a payout."""

    WAITING = "waiting"  # for another operation on the charge
    OPENING = "opening"  # nothing is written
    OPENED = "opened"  # the attempt is written, by one statement
    ASKING = "asking"  # the provider has not been called
    ANSWERED = "answered"  # the provider has moved the money, and nothing is recorded
    RECORDING = "recording"  # the writes of the outcome are built
    RECORDED = "recorded"  # the outcome is committed, and the request not answered
    WAKING_WORKER = "nudging"  # a change is committed, and no worker is woken
    CLAIMED = "claimed"  # webhooks are claimed, or an uploaded report
    SENT = "sent"  # receivers have answered, and nothing is recorded
    DELIVERY_RECORDED = "put_down"  # the attempts to deliver are recorded
    LOCKED = "locked"  # the charges of a settlement, or the schedule of a payout, are locked
    POSTED = "posted"  # a settlement, a payout or a run of a report is written and not committed
    SETTLED = "settled"  # a settlement, a payout or a run of a report is committed
    LEAVES_READ = "leaves_read"  # journals that have no leaf are read
    LEAVES_WRITTEN = "leaves_written"  # their leaves are written, and the tree is as before
    TREE_GROWN = "tree_grown"  # the tree has grown, and nothing is committed
    EXECUTING = "executing"  # what was approved is committed, and nothing of it is done
    EXECUTED = "executed"  # what was approved is done, and its request is as before
    LET_OUT = "let_out"  # a payout or a bank file goes out, and its request is as before
    TAKEN = "taken"  # the parts of a payout are taken, and the payout is not written


Listener = Callable[[Failpoint], None]
_listener: Listener | None = None


def reached(step: Failpoint) -> None:
    """Call the listener of this process, if any, with `step`."""
    if _listener is not None:
        _listener(step)


def listen(listener: Listener | None) -> None:
    """Set the listener of this process, or None."""
    global _listener
    _listener = listener
