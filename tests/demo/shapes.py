"""Rows without what is new each time, so that those of one history can be held against those of another."""

import json
import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any
from uuid import UUID

from django.db.models import Model

from payments.models import (
    Attempt,
    Card,
    Charge,
    Event,
    IdempotencyRecord,
    Posting,
    Refund,
    Settlement,
    Source,
    Webhook,
)
from payments.providers.simulator.models import Entry, Message, SimulatedOperation, SimulatedPayment

MODELS: tuple[type[Model], ...] = (
    *(Source, Card, Charge, Refund, Attempt, Event, Webhook, Posting, Settlement, IdempotencyRecord),
    *(SimulatedPayment, SimulatedOperation, Entry, Message),
)
NEW_EACH_TIME = re.compile(
    r"[0-9a-f]{32}|\d{4}-\d\d-\d\dT[0-9:.]+Z|(?<=/simulator/pay/)[\w-]+|(?<=/return/)[\w-]+|(?<=\"created\":)\d+"
)
Shape = Mapping[str, list[str]]


def shape_of_what(do: Callable[[], object]) -> Shape:
    """The rows that `do` leaves, by model, in no order and with nothing in them that is new each time."""
    before = {model: set(model._default_manager.values_list("pk", flat=True)) for model in MODELS}
    do()
    return {
        model.__name__: sorted(map(_shape, model._default_manager.exclude(pk__in=before[model]))) for model in MODELS
    }


def _shape(row: Model) -> str:
    fields = row._meta.concrete_fields
    return json.dumps({field.name: _plain(field.name, getattr(row, field.attname)) for field in fields})


def _plain(name: str, value: Any) -> Any:
    match value:
        case UUID() | date() | int() if name in ("id", "journal") or not isinstance(value, int):
            return "new"
        case bytes() | memoryview():
            return _plain_bytes(bytes(value))
        case str() | dict() | list():
            return NEW_EACH_TIME.sub("new", value if isinstance(value, str) else json.dumps(value))
        case None | bool() | int():
            return value
    return str(value)


def _plain_bytes(value: bytes) -> str:
    try:
        return NEW_EACH_TIME.sub("new", value.decode())
    except UnicodeDecodeError:
        return "bytes"
