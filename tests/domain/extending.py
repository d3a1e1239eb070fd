"""Holds that operators extend."""

from datetime import timedelta
from typing import Any

from payments.domain import operations
from payments.domain.caller import Caller
from payments.domain.idempotency import Answer
from payments.ids import parse_id
from payments.models import Charge

WEEK = timedelta(days=7)


def row_of(charge: dict[str, Any]) -> Charge:
    """The charge of an API's answer, as it is now."""
    return Charge.objects.get(id=parse_id("ch", charge["id"]))


def extend(charge: dict[str, Any]) -> Answer:
    """What whoever has the hold extended is answered. Raises PaymentError."""
    return operations.extend(Caller.service(row_of(charge)), charge["id"])
