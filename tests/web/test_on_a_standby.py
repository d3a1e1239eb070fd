"""A web process whose DATABASE_URL asks for a standby: it shows lists and files, and writes only what that records."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import httpx2
import psycopg
import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoDbBlocker

from payments.db.commit_horizon import HORIZON
from payments.domain.merchants.merchants import NewMerchant
from payments.embedded.processes import wait_until
from payments.ids import parse_id
from payments.models import AuditEntry, Charge, SavedView
from payments.staff.models import OperatorProfile
from tests.admin.conftest import operator as operator  # a fixture
from tests.admin.conftest import the_operator
from tests.client import Api
from tests.support.standbys import Standby, standby
from tests.web.clients import PATIENCE_SECONDS
from tests.web.conftest import Serve

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

CSRF = "t" * 32


@pytest.fixture(scope="module")
def shared_standby(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Standby]:
    with django_db_blocker.unblock(), standby() as started:
        # It takes nobody before the primary's longest transaction with many savepoints has ended.
        assert wait_until(lambda: is_up(started), 5 * PATIENCE_SECONDS)
        yield started


def is_up(started: Standby) -> bool:
    try:
        with started.session():
            return True
    except psycopg.OperationalError:
        return False


@pytest.fixture
def replica(shared_standby: Standby, transactional_db: None) -> Iterator[Standby]:
    yield shared_standby
    shared_standby.resume()


@pytest.fixture
def there(replica: Standby, serve: Serve, operator: Client) -> Iterator[httpx2.Client]:
    """Yield a browser of an operator who signed in at another process, before a web process on the standby."""
    OperatorProfile.objects.get_or_create(user=the_operator())
    port = serve(workers=1, DATABASE_URL=url_of(replica), ADMIN_MFA="false")
    cookies = {"csrftoken": CSRF} | {name: morsel.value for name, morsel in operator.cookies.items()}
    with httpx2.Client(base_url=f"http://127.0.0.1:{port}", cookies=cookies, headers={"X-CSRFToken": CSRF}) as browser:
        assert wait_until(lambda: browser.get("/ready").status_code == 200, PATIENCE_SECONDS)
        yield browser


def url_of(replica: Standby) -> str:
    """Return DATABASE_URL with both servers, of which the process takes the standby to read from."""
    at, hosts = connection.settings_dict, [connection.settings_dict["HOST"], replica.host]
    host = quote(",".join(hosts), safe="")
    name = f"{at['USER']}:{quote(at['PASSWORD'])}@/{at['NAME']}"
    return f"postgresql://{name}?host={host}&target_session_attrs=standby"


def row_of(charge: str) -> str:
    """Return the address that a charge's row leads to."""
    return reverse("admin:payments_charge_change", args=[parse_id("ch", charge)])


def test_lists_and_files_are_the_standbys_and_writes_are_refused(
    there: httpx2.Client, replica: Standby, api: Api, shop: NewMerchant
) -> None:
    api.charge()
    charges = reverse("admin:payments_charge_changelist")
    shown = str(api.charge()["id"])
    assert wait_until(lambda: row_of(shown) in there.get(charges).text, PATIENCE_SECONDS)
    replica.pause()
    later = str(api.charge()["id"])
    assert row_of(later) not in there.get(charges).text

    file = there.post(reverse("admin:payments_charge_csv"))
    assert (file.status_code, shown in file.text, later in file.text) == (200, True, False)
    month = f"{Charge.objects.latest('id').created_at:%Y-%m}"
    statement = reverse("admin:payments_statement_download", args=[shop.merchant.pk, month, "test", "csv"])
    assert there.get(statement).status_code == 200
    page = reverse("admin:payments_charge_change", args=[Charge.objects.earliest("id").pk])
    assert there.get(page).status_code == 200
    entries = AuditEntry.objects.order_by("id").values_list("action", flat=True)
    assert list(entries.filter(action__in=["exported", "viewed"])) == ["exported", "exported", "viewed"]

    refused = there.post("/v2/customers/", json={"email": "a@example.com", "description": "Ana"}, headers=api.headers())
    assert (refused.status_code, refused.headers.get("Retry-After")) == (503, "1"), refused.text
    refused = there.post(reverse("admin:payments_charge_saveview"), data={"name": "Mine", "query": "q=juan"})
    assert (refused.status_code, SavedView.objects.count()) == (503, 0)


def test_it_keeps_a_session_alive(there: httpx2.Client) -> None:
    soon = datetime.now(UTC) + timedelta(minutes=2)
    Session.objects.update(expire_date=soon)
    assert there.get(reverse("admin:payments_merchant_changelist")).status_code == 200
    assert Session.objects.get().expire_date > soon


def test_the_horizon_of_commits_stays_behind_what_the_standby_has(replica: Standby, api: Api) -> None:
    """A transaction that is under way on the primary is no standby's to see."""
    replica.pause()
    paused_at = datetime.now(UTC)
    api.charge()
    with replica.session() as session:
        horizon: Any = session.execute(HORIZON).fetchone()
    assert horizon[0] < paused_at - timedelta(seconds=59)
