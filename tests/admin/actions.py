"""Forms of acts, sent as the pages have them."""

import re
from typing import Any

from django.contrib.auth import SESSION_KEY
from django.db.models import Model
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from payments import context
from payments.admin.framework.reason_form import RowIdField
from payments.ids import new_id

REASON = "Ticket 4711"
ROW_ID = re.compile(r'name="row_id" value="([^"]+)"')


def address_of(row: Model, name: str) -> str:
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_{name}", args=[row.pk])


def form_of(client: Client, address: str) -> dict[str, str]:
    """Return the hidden fields of a form's page, and a reason."""
    found = ROW_ID.search(client.get(address).content.decode())
    return {"reason": REASON, **({"row_id": found[1]} if found else {})}


def once(client: Client) -> dict[str, str]:
    """Return the ID of what a form makes that this person opens now."""
    token = context.actor.set(lambda: context.Actor("", "", int(client.session[SESSION_KEY])))
    try:
        return {"row_id": RowIdField().prepare_value(new_id())}
    finally:
        context.actor.reset(token)


def act(client: Client, row: Model, name: str, /, **fields: Any) -> HttpResponse:
    """Return the answer to an action on `row`."""
    address = address_of(row, name)
    return client.post(address, form_of(client, address) | fields)
