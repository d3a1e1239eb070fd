"""One of everything, made over the API, and an operator who may do all that the admin lets anybody do."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from payments.domain.merchants.merchants import NewMerchant
from payments.models import Attempt, BinRange, Event
from payments.sweeps import in_turn
from tests.client import REFUNDS_WAIT, Api, made
from tests.operators.corrections import operator as staff_member
from tests.operators.corrections import unknown_payment
from tests.staff.all_merchants import for_all

IDEMPOTENCY_KEY = "Order-20261121/77"
NOTIFY_URL = "https://sari.example/kaha?shop=7"
REDIRECT = {"success": "https://sari.example/yes", "fail": "https://sari.example/no", "notify": NOTIFY_URL}


@dataclass
class House:
    """A shop with a customer and a part-refunded charge, and what the API answered about them."""

    shop: NewMerchant
    charge: dict[str, Any]
    customer: dict[str, Any]
    request_id: str

    def id_of(self, prefix: str) -> str:
        event = Event.objects.filter(type="charge.created").latest("id")
        return {
            "ch": self.charge["id"],
            "src": self.charge["source"]["id"],
            "card": self.charge["source"]["card"]["id"],
            "re": self.charge["refunds"][0]["id"],
            "cus": self.customer["id"],
            "mer": f"mer_{self.shop.merchant.id.hex}",
            "evt": f"evt_{event.id.hex}",
            "req": self.request_id,
            "uuid": str(event.object_id),
            "last4": self.charge["source"]["card"]["last4"],
        }[prefix]


@pytest.fixture
def house(shop: NewMerchant, api: Api) -> House:
    BinRange.objects.create(prefix="411111", brand="visa", issuing_bank="Bank of Baguio")
    source = api.source(REFUNDS_WAIT, owner={"name": "Juan dela Cruz"}, redirect=REDIRECT)
    customer = made(api.post("/customers/", {"email": "juan@example.com", "description": "Juan"}))
    order = {"amount": 123_450, "source": source, "description": "Halo-halo", "metadata": {"table": 7}}
    response = api.post("/charges/", order, key=IDEMPOTENCY_KEY)
    charge = made(response)
    charge = made(api.post(f"/charges/{charge['id']}/refund", {"amount": 450}))
    return House(shop, charge, customer, response["Request-Id"])


@pytest.fixture
def operator(db: None) -> Client:
    """Return a client with a signed-in superuser."""
    client = Client()
    client.force_login(the_operator())
    return client


def the_operator() -> User:
    """Return the user who `operator` is signed in as."""
    return User.objects.get_or_create(username="operator", defaults={"is_staff": True, "is_superuser": True})[0]


def text_of(response: Any) -> str:
    """Return a page's text; the page must exist."""
    assert response.status_code == 200, (response.status_code, response.content[:500])
    return response.content.decode()


def words_of(response: Any) -> str:
    """Return a page's text in one line, without tags."""
    return " ".join(re.sub(r"<[^>]+>", " ", text_of(response)).split())


def client_of(name: str, *permissions: str) -> Client:
    """Somebody of the staff who may do `permissions` and nothing else, for all merchants; a superuser without any."""
    client, user = Client(), staff_member(name)
    if permissions:
        user.is_superuser = False
        user.save()
        user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
        for_all(user)
    client.force_login(user)
    return client


@pytest.fixture
def ana(db: None) -> Client:
    return client_of("ana")


@pytest.fixture
def ben(db: None) -> Client:
    return client_of("ben")


@pytest.fixture
def unknown(api: Api) -> Attempt:
    return unknown_payment(api)


@pytest.fixture
def mail_server(settings: Any) -> Iterator[None]:
    """Have mail be sent, and operators sign in by a password alone."""
    settings.EMAIL_HOST, settings.ADMIN_MFA = "mail.example", False
    yield
    in_turn._failures.clear()
