"""The drill for a leaked key, as the guide to keys has it."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from payments import clock
from payments.domain.merchants.api_keys import find_key
from payments.domain.merchants.merchants import NewMerchant
from payments.ids import parse_id
from payments.models import Event
from tests.admin.conftest import text_of
from tests.client import Api, error_of
from tests.commands.conftest import Manage, manage
from tests.contract.calls import CARD_SOURCE, order
from tests.test_logging import Lines, lines

__all__ = ["lines", "manage"]

SHOP, THIEF = "198.51.100.7", "203.0.113.9"


class From(Api):
    """The API as somebody at this address calls it, with any key."""

    def __init__(self, key: str, address: str) -> None:
        super().__init__(key)
        self.address = address

    def headers(self) -> dict[str, str]:
        return super().headers() | {"X-Forwarded-For": self.address}


@pytest.fixture(autouse=True)
def _behind_a_proxy(settings: Settings) -> None:
    settings.TRUSTED_PROXIES = 1


def new_key(output: str) -> tuple[str, str]:
    """Return the ID and text of the key that a command has shown."""
    return re.findall(r"key_[0-9a-f]{32}", output)[0], re.findall(r"rk_test_[0-9a-f]{48}", output)[0]


def of(lines: Lines, key_id: str, address: str) -> list[dict[str, Any]]:
    """Return the lines of the requests with this key from this address."""
    requests = lines.of("kaha.request")
    return [line for line in requests if (line.get("key"), line["remote_address"]) == (key_id, address)]


def test_a_leaked_key_is_rolled_and_revoked_and_what_it_did_is_found(
    manage: Manage, shop: NewMerchant, operator: Client, lines: Lines
) -> None:
    rights = "--rights=charges:read,charges:write,sources:write"
    old_id, old = new_key(manage("merchant", "create-key", "Sari Store", "--mode=test", "--kind=restricted", rights))
    source = From(old, THIEF).post("/sources/", CARD_SOURCE).json()["id"]
    stolen = From(old, THIEF).post("/charges/", order(source)).json()["id"]
    assert From(old, SHOP).get("/charges/").status_code == 200

    # Which key it is and when it was used last, from its last four characters.
    shown = manage("merchant", "list-keys", "Sari Store").splitlines()
    assert [line for line in shown if line.startswith(old_id) and f"{old[-4:]} " in line]
    assert clock.now() - find_key(old_id).last_used_at < timedelta(minutes=1)

    # Rolled, the old one works on for the programs that have not changed over; the log shows which these are.
    new_id, new = new_key(manage("merchant", "roll-key", old_id, "--overlap", "1h"))
    assert [From(key, SHOP).get("/charges/").status_code for key in (old, new)] == [200, 200]
    assert len(of(lines, old_id, SHOP)) == 2
    assert len(of(lines, new_id, SHOP)) == 1

    # Revoked, it ends at once, and further attempts are in the log.
    manage("merchant", "revoke-key", old_id)
    refused = From(old, THIEF).get("/charges/")
    assert (refused.status_code, error_of(refused)["code"]) == (401, "key_revoked")
    assert From(new, SHOP).get("/charges/").status_code == 200
    assert [line["status"] for line in of(lines, old_id, THIEF)] == [200, 201, 401]

    # What the thief did is found by the requests' IDs.
    charged = next(line for line in of(lines, old_id, THIEF) if line["status"] == 201)
    assert charged["route"] == "v2/charges/?$"
    found = text_of(operator.get(reverse("admin:payments_event_changelist"), {"q": charged["request_id"]}))
    made = Event.objects.filter(object_id=parse_id("ch", stolen))
    assert made
    assert all(reverse("admin:payments_event_change", args=[event.pk]) in found for event in made)

    # And the log never had the key itself.
    assert [secret for secret in (old, new, old[8:], new[8:]) if secret in lines.text] == []
