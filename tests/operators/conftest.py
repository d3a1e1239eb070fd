"""Operators at their pages, which want no second factor here."""

from typing import Any

import pytest
from django.test import Client

from tests.client import signed_in
from tests.operators.factories import person


@pytest.fixture(autouse=True)
def _the_password_is_enough(settings: Any) -> None:
    settings.ADMIN_MFA = False


def client_of(name: str, role: str) -> Client:
    return signed_in(person(name, role))


@pytest.fixture
def ana(db: None) -> Client:
    """Of support."""
    return client_of("ana", "support")


@pytest.fixture
def ben(db: None) -> Client:
    """Of finance."""
    return client_of("ben", "finance")
