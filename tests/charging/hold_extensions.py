"""Holds that operators extend."""

from datetime import timedelta
from typing import Any

from payments.domain.charging import operations
from payments.domain.shared.caller import Caller
from payments.domain.shared.idempotency import Result
from payments.ids import parse_id
from payments.models import Charge

WEEK = timedelta(days=7)


def row_of(charge: dict[str, Any]) -> Charge:
    """Return the charge of an API's answer, read again."""
    return Charge.objects.get(id=parse_id("ch", charge["id"]))


def extend(charge: dict[str, Any]) -> Result[Charge]:
    """Return how the extension ended. Raise PaymentError."""
    return operations.extend(Caller.service(row_of(charge)), charge["id"])


def stands(charge: dict[str, Any]) -> tuple[bool, int, str]:
    """Whether it is held, by how many days that was extended, and what is under way."""
    row = row_of(charge)
    return row.authorized, row.hold_extended_days, row.operation
