"""A merchant's own people, signed in to its site."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from payments.domain.merchants.merchants import NewMerchant
from payments.models import Merchant, MerchantAccess
from tests.admin.conftest import house  # noqa: F401  something to be looked at
from tests.client import signed_in

Role = MerchantAccess.Role
Person = Callable[..., Client]


@pytest.fixture(autouse=True)
def _the_password_is_enough(settings: Any) -> None:
    settings.ADMIN_MFA = False


def member(merchant: Merchant, role: str = Role.OWNER, name: str = "") -> User:
    """Return somebody who works for `merchant`."""
    user, _ = User.objects.get_or_create(username=name or f"{role}-of-{merchant.pk.hex[-6:]}")
    MerchantAccess.objects.create(user=user, merchant=merchant, role=role)
    return user


@pytest.fixture
def owner(shop: NewMerchant) -> Client:
    """Return a client of an owner of the shop."""
    return signed_in(member(shop.merchant))
