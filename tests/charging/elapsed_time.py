"""Time that passes and sweeps that run, for tests."""

from datetime import timedelta
from io import StringIO
from typing import Any

from django.core.management import call_command

from payments import clock
from payments.domain.charging import recovery
from payments.models import Attempt


def let_time_pass(model: Any, field: str) -> None:
    """Make everything that waits for `field` due."""
    model.objects.filter(**{f"{field}__isnull": False}).update(**{field: clock.now() - timedelta(seconds=1)})


def said_by(command: str) -> str:
    """Return the output of a command."""
    out = StringIO()
    call_command(command, stdout=out)
    return out.getvalue().strip()


def recover() -> None:
    let_time_pass(Attempt, "due_at")
    recovery.resolve_due()
