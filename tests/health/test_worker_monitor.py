"""The web server says that no worker works, and sends the alarm that no worker can send."""

import pytest
from django.db.models.functions import Now
from pytest_django import Settings

from payments.embedded.processes import wait_until
from payments.health import worker_monitor
from payments.health.worker_monitor import WorkerMonitor
from payments.models import WorkerProcess
from tests.inbox.smtp import Server
from tests.inbox.test_notifications import use, who_wants
from tests.sweeps.factories import MINUTE, a_worker
from tests.web.busy import watched
from tests.web.conftest import Serve
from tests.web.conftest import serve as serve
from tests.web.conftest import serve_with_pid as serve_with_pid


@pytest.fixture
def monitor(monkeypatch: pytest.MonkeyPatch) -> WorkerMonitor:
    """Return a monitor that waits for no replacement of a worker."""
    monkeypatch.setattr(worker_monitor, "ALARM_AFTER_SECONDS", 0.0)
    return WorkerMonitor()


@pytest.mark.django_db
def test_a_worker_that_comes_back_ends_the_warning(monitor: WorkerMonitor) -> None:
    a_worker(seen=2 * MINUTE)
    monitor.watch()
    assert monitor.warning.startswith("no worker works since 20")
    a_worker()
    monitor.watch()
    assert monitor.warning == ""


@pytest.mark.django_db
def test_a_pause_between_two_workers_is_no_alarm() -> None:
    monitor = WorkerMonitor()
    monitor.watch()
    assert monitor.warning == ""


@pytest.mark.long
@pytest.mark.django_db
def test_the_mail_that_no_worker_works_is_sent_without_a_worker_and_once(
    monitor: WorkerMonitor, settings: Settings
) -> None:
    who_wants("each")
    a_worker()
    with Server() as server:
        use(settings, server)
        monitor.watch()
        assert server.mails == []
        WorkerProcess.objects.update(seen_at=Now() - 2 * MINUTE)
        for each in (monitor, WorkerMonitor(), monitor):
            each.watch()
        [mail] = [each for each in server.mails if each["Subject"].startswith("kaha: No worker works: since ")]
    assert b"/admin/on-call/" in mail.get_payload(decode=True)


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_ready_says_that_no_worker_works_and_stays_200(serve: Serve) -> None:
    port = serve(workers=1)
    assert watched(port, "ready") == (200, "healthy")
    assert wait_until(lambda: watched(port, "ready") == (200, "degraded: no worker works yet"), 120)
    assert watched(port, "ping") == (200, "healthy")
    a_worker()
    assert wait_until(lambda: watched(port, "ready") == (200, "healthy"), 120)
