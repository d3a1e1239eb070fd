"""An operator's way through the pages of an act."""

import re
from html import unescape

from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from payments.models import Charge, OperatorAction
from tests.admin.conftest import text_of
from tests.operators.factories import NOTE, REASON

TYPED = re.compile(r'<textarea name="(\w+)"[^>]*>(.*?)</textarea>', re.DOTALL)
CHOSEN = re.compile(r'<select name="(\w+)"[^>]*>(?:(?!</select>).)*?<option value="([^"]*)" selected', re.DOTALL)


def page_at(kind: str) -> str:
    """Return the URL of an action on the newest charge."""
    return reverse(f"admin:payments_charge_{kind}", args=[Charge.objects.latest("id").pk])


def form_on(text: str) -> dict[str, str]:
    """Return the form of a page, field by field."""
    shown = text[text.index('id="content-main"') :]
    fields = re.findall(r"<input[^>]*>", shown)
    found = {name: unescape(typed.strip()) for name, typed in TYPED.findall(shown)} | dict(CHOSEN.findall(shown))
    for field in fields:
        attributes = dict(re.findall(r'(\w+)="([^"]*)"', field))
        if "name" in attributes:
            found[attributes["name"]] = unescape(attributes.get("value", ""))
    return found


def asked(client: Client, kind: str, **typed: str) -> str:
    """Fill in the form and return the page that says what it will do."""
    form = form_on(text_of(client.get(page_at(kind)))) | {"reason": REASON} | typed
    return text_of(client.post(page_at(kind), form))


def confirm(client: Client, kind: str, page: str) -> HttpResponse:
    return client.post(page_at(kind), form_on(page) | {"decision": "confirm"}, follow=True)


def acted(client: Client, kind: str, **typed: str) -> str:
    """Take an action from its form to its end; return the page with the result."""
    return text_of(confirm(client, kind, asked(client, kind, **typed)))


def decide(client: Client, act: OperatorAction, decision: str = "approve", note: str = NOTE) -> HttpResponse:
    address = reverse("admin:payments_operatoraction_decide", args=[act.pk])
    return client.post(address, {"decision": decision, "note": note}, follow=True)
