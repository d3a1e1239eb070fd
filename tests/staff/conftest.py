"""Ana, an operator with a second factor, and a visitor's browser."""

import pytest
from django.contrib.auth.models import User
from pytest_django.fixtures import Settings

from tests.pages.conftest import browser  # noqa: F401  operators have the payers' browser
from tests.staff.sign_in import PASSWORD, Visitor


@pytest.fixture(autouse=True)
def _as_in_production(settings: Settings) -> None:
    """Turn second factors on."""
    settings.ADMIN_MFA = True


@pytest.fixture
def ana(db: None) -> User:
    """Return a superuser without a second factor yet."""
    return User.objects.create_superuser("ana", password=PASSWORD)


@pytest.fixture
def visitor() -> Visitor:
    return Visitor()
