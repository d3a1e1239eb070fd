"""Ana, who works here and signs in with a second factor, and the browser of whoever wants to."""

import pytest
from django.contrib.auth.models import User
from pytest_django.fixtures import Settings

from tests.pages.conftest import browser  # noqa: F401  operators have the payers' browser
from tests.staff.signing import PASSWORD, Visitor


@pytest.fixture(autouse=True)
def _as_in_production(settings: Settings) -> None:
    """With second factors; but passwords are hashed fast, and a wrong code is not followed by a second's pause."""
    settings.ADMIN_MFA = True
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.OTP_TOTP_THROTTLE_FACTOR = settings.OTP_STATIC_THROTTLE_FACTOR = 0


@pytest.fixture
def ana(db: None) -> User:
    """A superuser without a second factor yet."""
    return User.objects.create_superuser("ana", password=PASSWORD)


@pytest.fixture
def visitor() -> Visitor:
    return Visitor()
