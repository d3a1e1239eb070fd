"""The command and the page On call say the same."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest
from django.db.models.functions import Now
from django.test import Client
from django.urls import reverse

from payments.embedded.folders import PROJECT
from payments.health import examination
from payments.health.examination import recent_examination
from payments.health.table import JUDGED
from payments.models import MerchantAccess, WorkerProcess
from tests.admin.conftest import text_of
from tests.commands.conftest import Manage
from tests.commands.conftest import manage as manage
from tests.operators.factories import person
from tests.sweeps.factories import HOUR, MINUTE

ON_CALL = reverse("admin:on_call")


@pytest.fixture(autouse=True)
def no_recent_examination() -> None:
    recent_examination.forget()


def page(client: Client, name: str = "ben") -> str:
    client.force_login(person(name, "viewer"))
    return text_of(client.get(ON_CALL))


@pytest.mark.usefixtures("service")
def test_the_doctor_ends_with_0_where_nothing_is_wrong(manage: Manage) -> None:
    assert manage("doctor") == f"In order: {', '.join(fact.title for fact in JUDGED)}.\n"


def test_the_doctor_says_what_is_wrong_what_to_do_and_where_to_read_on(service: WorkerProcess, manage: Manage) -> None:
    WorkerProcess.objects.update(seen_at=Now() - HOUR)
    with pytest.raises(SystemExit, match="1"):
        manage("doctor")


@pytest.mark.usefixtures("service")
def test_advice_is_shown_and_nothing_wrong(client: Client, manage: Manage, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = [replace(fact, read=lambda: "") if fact.title == "Python" else fact for fact in JUDGED]
    monkeypatch.setattr(examination, "JUDGED", slow)
    assert "  advice  Python was built without profile-guided" in manage("doctor")
    text = page(client)
    assert ("Nothing is wrong." in text, "advice" in text) == (True, True)


@pytest.mark.long
def test_the_doctor_says_that_the_database_is_away() -> None:
    environment = {**os.environ, "DATABASE_URL": "postgresql://kaha:unused@127.0.0.1:1/kaha"}
    command = [sys.executable, "manage.py", "doctor"]
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "URGENT  PostgreSQL does not answer." in done.stdout
    assert "In order: Redis, Certificate" in done.stdout
    assert "unused" not in done.stdout + done.stderr


@pytest.mark.usefixtures("service")
def test_the_page_says_that_nothing_is_wrong_and_shows_workers_and_sweeps(client: Client) -> None:
    text = page(client)
    assert "Nothing is wrong." in text
    assert "works" in text
    assert "Deliver webhooks" in text


@pytest.mark.usefixtures("service")
def test_the_page_says_what_is_wrong(client: Client) -> None:
    WorkerProcess.objects.update(seen_at=Now() - 2 * MINUTE)
    text = page(client)
    assert "No worker works since" in text
    assert "Start a worker" in text
    assert "/docs/on-call#workers" in client.get(ON_CALL).content.decode()


@pytest.mark.usefixtures("service")
def test_readers_of_the_page_share_a_report_for_some_seconds(client: Client) -> None:
    assert "Nothing is wrong." in page(client)
    WorkerProcess.objects.update(seen_at=Now() - HOUR)
    assert "Nothing is wrong." in page(client)


def test_the_page_is_for_those_who_work_for_all_merchants(client: Client, service: WorkerProcess) -> None:
    user = person("cora", "viewer")
    user.groups.set(user.groups.filter(name="viewer"))
    client.force_login(user)
    assert client.get(ON_CALL).status_code == 403
    assert MerchantAccess.objects.limit_of(user) is not None
