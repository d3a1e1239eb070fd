"""What tests of the page of a checkout do: open it, and send its form."""

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from tests.client import APPROVED
from tests.pages.waiting_charges import path_of

pytestmark = pytest.mark.django_db

CARD = {"way": "card", "expiry": "12/39", "cvc": "123", "holder": "Maria Santos"}
INSUFFICIENT = "4000000000009995"


def page_of(session: dict[str, Any]) -> str:
    """Return the path of the session's page."""
    return path_of(session["payment_url"])


def text_of(client: Client, session: dict[str, Any], status: int = 200, **headers: str) -> str:
    """Return the page of a session as a browser gets it."""
    response = client.get(page_of(session), headers=headers)
    assert response.status_code == status
    return response.content.decode()


def send(client: Client, session: dict[str, Any], number: str = APPROVED, **fields: Any) -> HttpResponse:
    """Send the form as it is shown first, with a card."""
    return client.post(page_of(session), {"attempt": "0", **CARD, "number": number, **fields})
