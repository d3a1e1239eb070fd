"""Customers for tests, made and read through the API."""

import json
from typing import Any

from payments.ids import parse_id
from payments.models import Card, Event
from tests.client import APPROVED, Api, made

MARIA = {"email": "maria@example.ph", "description": "Maria Clara"}


def new_customer(api: Api, **members: Any) -> dict[str, Any]:
    return made(api.post("/customers/", MARIA | members))


def attach(api: Api, customer: dict[str, Any], number: str = APPROVED) -> str:
    """Keep a new card for `customer` and return the source's ID."""
    source = api.source(number)
    made(api.post(f"/customers/{customer['id']}/sources", {"source": source}))
    return source


def read(api: Api, customer: dict[str, Any]) -> dict[str, Any]:
    return made(api.get(f"/customers/{customer['id']}"))


def events_of(public_id: str) -> list[dict[str, Any]]:
    """Return the events of one object, first one first."""
    uuid = parse_id(public_id.partition("_")[0], public_id)
    return [json.loads(bytes(event.payload)) for event in Event.objects.filter(object_id=uuid).order_by("sequence")]


def card_of(source: str) -> Card:
    """Return the card of a source's public ID."""
    return Card.objects.get(source_id=source.removeprefix("src_"))
