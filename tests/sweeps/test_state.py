"""Who is silent, and which sweep is behind."""

import re

import pytest
from django.core.management import call_command
from django.db.models.functions import Now

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.models import Sweep, Webhook, WorkerProcess
from payments.sweeps import heartbeats, oldest_due
from payments.sweeps.heartbeats import LISTED_SECONDS, ROWS_MAX, SILENT_SECONDS
from payments.sweeps.state import BehindSweep, read_state
from tests.commands.conftest import Manage
from tests.commands.conftest import manage as manage
from tests.figures.webhooks.events import put_events
from tests.sweeps.factories import HOUR, MINUTE, SECOND, a_worker, all_swept, let_pass, one_claim

pytestmark = pytest.mark.django_db

SILENT = SECOND * (SILENT_SECONDS + 5)
URL = "https://shop.example/kaha"


@pytest.fixture
def worker(db: None) -> WorkerProcess:
    """Return a worker that works, and has just run every sweep."""
    worker = a_worker()
    all_swept(worker)
    return worker


def behind() -> dict[str, BehindSweep]:
    return {each.sweep.name: each for each in read_state().behind()}


def test_a_worker_is_alive_until_it_was_not_seen_for_a_minute() -> None:
    worker = a_worker(seen=SECOND * (SILENT_SECONDS - 5))
    assert read_state().alive == [worker]
    WorkerProcess.objects.update(seen_at=Now() - SILENT)
    state = read_state()
    assert (state.alive, state.silent) == ([], [worker])
    assert state.none_since == state.workers[0].seen_at


def test_a_worker_that_stopped_in_good_order_is_not_silent_but_there_is_none_then() -> None:
    worker = a_worker()
    heartbeats.end(worker.pk)
    state = read_state()
    assert (state.alive, state.silent) == ([], [])
    assert state.none_since is not None


def test_a_silent_worker_is_forgiven_once_another_has_started_on_its_host() -> None:
    gone = a_worker("one", seen=SILENT)
    a_worker("two", started=SECOND)
    assert read_state().silent == [gone]
    a_worker("one", started=SECOND)
    assert read_state().silent == []


def test_rows_of_workers_are_bounded_and_the_last_one_stays() -> None:
    a_worker("gone", seen=SECOND * (LISTED_SECONDS + 1))
    heartbeats.delete_old()
    assert WorkerProcess.objects.count() == 1
    for number in range(ROWS_MAX + 5):
        a_worker(f"host{number}", seen=SECOND * number)
    heartbeats.delete_old()
    assert WorkerProcess.objects.count() == ROWS_MAX
    assert not WorkerProcess.objects.filter(host="gone").exists()


def test_nothing_is_behind_while_sweeps_run(worker: WorkerProcess) -> None:
    assert behind() == {}


def test_a_sweep_that_no_worker_runs_is_behind_within_two_minutes(worker: WorkerProcess) -> None:
    let_pass(SECOND * 55)
    assert behind() == {}
    let_pass(SECOND * 10)
    assert behind()["deliver_webhooks"].why == "no worker runs it"
    assert "settle_due" not in behind()
    let_pass(SECOND * 60)
    assert "settle_due" in behind()


def test_without_a_worker_no_sweep_is_said_to_be_behind(worker: WorkerProcess) -> None:
    let_pass(HOUR)
    WorkerProcess.objects.update(seen_at=Now() - SILENT)
    assert behind() == {}


def test_a_sweep_that_fails_is_behind_once_it_has_not_worked_for_a_minute(worker: WorkerProcess) -> None:
    Sweep.objects.filter(name="send_messages").update(error="OSError", worked_at=Now() - MINUTE)
    assert behind() == {}
    Sweep.objects.filter(name="send_messages").update(worked_at=Now() - SECOND * 71)
    assert behind()["send_messages"].why == "it fails with OSError"


def test_a_sweep_that_does_not_end_is_behind_after_hours(worker: WorkerProcess) -> None:
    Sweep.objects.filter(name="check_money").update(due_at=Now())
    one_claim(worker.pk, "check_money")
    Sweep.objects.filter(name="check_money").update(started_at=Now() - HOUR, finished_at=Now() - 2 * HOUR)
    assert behind() == {}
    Sweep.objects.filter(name="check_money").update(started_at=Now() - 3 * HOUR, finished_at=Now() - 4 * HOUR)
    assert behind()["check_money"].why == "it runs and does not end"


@pytest.mark.usefixtures("worker")
def test_webhooks_that_no_worker_begins_with_have_the_sweep_behind(shop: NewMerchant) -> None:
    put_events(shop.merchant, URL, 3, clock.now() - MINUTE)
    oldest_due.record()
    assert behind() == {}
    Webhook.objects.update(due_at=Now() - 2 * MINUTE)
    Sweep.objects.filter(name="deliver_webhooks").update(due_since=Now() - 2 * MINUTE)
    assert oldest_due.record() == 1
    assert behind()["deliver_webhooks"].why == "something that is due was not taken"


@pytest.mark.usefixtures("worker")
def test_what_comes_with_a_due_time_long_past_is_behind_only_when_it_stays(shop: NewMerchant) -> None:
    put_events(shop.merchant, URL, 1, clock.now() - HOUR)
    oldest_due.record()
    assert behind() == {}
    Sweep.objects.update(due_since=Now() - 2 * MINUTE)
    oldest_due.record()
    assert behind()["deliver_webhooks"].since > clock.now() - 3 * MINUTE


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("facts", [{"failures": 1}, {"leased_until": Now() + MINUTE}], ids=["failing", "slow"])
def test_a_receiver_that_fails_or_is_slow_does_not_have_the_sweep_behind(
    shop: NewMerchant, facts: dict[str, object]
) -> None:
    put_events(shop.merchant, URL, 3, clock.now())
    Webhook.objects.update(due_at=Now() - HOUR)
    Webhook.objects.filter(id=Webhook.objects.first().id).update(**facts)
    assert oldest_due.record() == 0
    put_events(shop.merchant, "https://other.example/kaha", 1, clock.now() - HOUR)
    assert oldest_due.record() == 1


def test_every_measure_reads_the_database_that_is_there() -> None:
    assert all(oldest_due.measure(name) is None for name in oldest_due.MEASURED)


def test_check_worker_ends_by_whether_a_worker_of_the_host_works(manage: Manage) -> None:
    with pytest.raises(SystemExit, match="1"):
        manage("check_worker")
    a_worker("elsewhere")
    with pytest.raises(SystemExit, match="1"):
        manage("check_worker")
    assert re.search(r"works: seen \d+ s ago, 0 of 8 threads busy", manage("check_worker", "--any-host"))
    assert "elsewhere" in manage("check_worker", "--host", "elsewhere")
    a_worker()
    assert "works" in manage("check_worker")
    WorkerProcess.objects.update(seen_at=Now() - SILENT)
    with pytest.raises(SystemExit, match="1"):
        call_command("check_worker")
