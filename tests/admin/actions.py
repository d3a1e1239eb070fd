"""Forms of acts, sent as the pages have them."""

import re
from typing import Any

from django.db.models import Model
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

REASON = "Ticket 4711"
ROW_ID = re.compile(r'name="row_id" value="([0-9a-f-]{36})"')


def address_of(row: Model, name: str) -> str:
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_{name}", args=[row.pk])


def form_of(client: Client, address: str) -> dict[str, str]:
    """Return the hidden fields of a form's page, and a reason."""
    found = ROW_ID.search(client.get(address).content.decode())
    return {"reason": REASON, **({"row_id": found[1]} if found else {})}


def act(client: Client, row: Model, name: str, /, **fields: Any) -> HttpResponse:
    """Return the answer to an action on `row`."""
    address = address_of(row, name)
    return client.post(address, form_of(client, address) | fields)
