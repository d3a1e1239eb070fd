"""The command after a restore, and the operations that are lost by one."""

import io
from datetime import datetime
from typing import Any

from django.core.management import CommandError, call_command

from payments import clock
from payments.invariants.checks import check
from payments.invariants.registry import INVARIANTS
from tests.client import Api, made


def recovered(since: datetime, ends_with: int = 0) -> str:
    """Run the command, which must end with that status; return its output."""
    output, status = io.StringIO(), 0
    try:
        call_command("recover_after_restore", "--since", clock.iso(since), stdout=output, stderr=io.StringIO())
    except CommandError as fault:
        status = fault.returncode
        output.write(str(fault))
    assert status == ends_with, output.getvalue()
    # What is left to operators is a difference between the simulator's books and ours.
    broken = {invariant.name for invariant in INVARIANTS if check(invariant).count}
    assert broken <= ({"simulator_agrees", "simulator_money_is_known"} if ends_with else set())
    return output.getvalue()


def on(api: Api, charge: dict[str, Any], verb: str, body: dict[str, int] | None = None) -> dict[str, Any]:
    """Capture, void or refund a charge."""
    return made(api.post(f"/charges/{charge['id']}/{verb}", body))
