"""What an operator's day begins with: work that waits, and two people in roles, each with a browser."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import pytest
from django.core.management import call_command
from playwright.sync_api import Browser
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from payments.models import Merchant, Webhook
from payments.staff.roles import make_roles
from tests.admin.conftest import REDIRECT
from tests.approvals.factories import requested_key
from tests.client import ANSWER_LOST, APPROVED, Api
from tests.office.tabs import Office
from tests.pages.conftest import browser  # noqa: F401  operators have the payers' browser

HELD, TAKEN = 20_000_000, 15_000_000


@dataclass
class Work:
    """Needs attention: a hold, a charge that a part is refunded of, and one with an unknown outcome it."""

    held: dict[str, Any]
    taken: dict[str, Any]
    unknown: dict[str, Any]


@pytest.fixture
def work(api: Api) -> Work:
    """Return charges of which each needs work; their webhooks were given up."""
    call_command("check_money", verbosity=0)
    held = api.charge(APPROVED, HELD, capture=False, description="Charter, three days")
    taken = api.charge_source(api.source(redirect=REDIRECT), TAKEN, description="Solar panels")
    unknown = api.charge(ANSWER_LOST, 125_000, description="Rice and oil")
    requested_key(Merchant.objects.latest("pk"))
    Webhook.objects.update(state=Webhook.State.EXHAUSTED, due_at=None, failures=14, tries=14)
    return Work(held, taken, unknown)


@pytest.fixture
def office(transactional_db: None, live_server: LiveServer, settings: Settings, browser: Browser) -> Generator[Office]:  # noqa: F811
    """How people sign in is tested elsewhere; here the password was enough."""
    settings.ADMIN_MFA = False
    make_roles()
    office = Office(browser, live_server.url)
    yield office
    for context in browser.contexts:
        context.close()
    assert office.complaints == []
