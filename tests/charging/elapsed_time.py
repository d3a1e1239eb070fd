"""Time that passes and sweeps that run, for tests."""

from datetime import timedelta
from typing import Any

from payments import clock
from payments.domain.charging import recovery
from payments.models import Attempt


def let_time_pass(model: Any, field: str) -> None:
    """Make everything that waits for `field` due."""
    model.objects.filter(**{f"{field}__isnull": False}).update(**{field: clock.now() - timedelta(seconds=1)})


def recover() -> None:
    let_time_pass(Attempt, "due_at")
    recovery.resolve_due()
