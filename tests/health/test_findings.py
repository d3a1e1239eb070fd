"""Each fault is made for real, and is found; nothing else is."""

import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.db.models.functions import Now
from pytest_django import Settings

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.health import facts, findings
from payments.health.examination import examine
from payments.health.facts import DatabaseUse
from payments.models import (
    BinRange,
    DataKey,
    LogHead,
    LogProgress,
    MoneyCheck,
    PayerMessage,
    Sweep,
    Webhook,
    WorkerProcess,
)
from payments.vault.base import Purpose
from payments.vault.key_wraps import new_key
from tests.client import ANSWER_LOST, Api
from tests.factories import ApiKeyFactory
from tests.figures.webhooks.events import put_events
from tests.messages.letters import captured, put_into_outbox
from tests.overview.past_charges import make_past_charge
from tests.routing.conftest import live as live
from tests.routing.conftest import north as north
from tests.routing.doubles import Psp, account_at, route_to
from tests.routing.test_health import wear_out
from tests.sweeps.factories import HOUR, MINUTE, a_worker
from tests.test_broker import TlsServer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("service")]

PARTITIONED = ["payments_event", "payments_webhook", "payments_webhookattempt", "payments_apirequest"]
URL = "https://shop.example/kaha"
OTHER_KEY = "OTg3NjU0MzIxMDk4NzY1NDMyMTA5ODc2NTQzMjEwOTg="


def found() -> dict[str, list[str]]:
    """Return what is wrong, by the titles of the checks."""
    return {check.title: [finding.what for finding in each] for check, each in examine().found}


def of(title: str) -> str:
    """Return the one finding of the one check that finds something."""
    wrong = found()
    assert list(wrong) == [title]
    [what] = wrong[title]
    return what


def test_nothing_is_wrong_with_a_service_in_order() -> None:
    assert found() == {}
    assert len(examine().in_order) == 19


def test_that_no_worker_works_is_said_with_since_when() -> None:
    WorkerProcess.objects.update(seen_at=Now() - 2 * MINUTE)
    assert of("Workers").startswith(f"No worker works since {clock.now() - 2 * MINUTE:%Y-%m-%d}")
    WorkerProcess.objects.all().delete()
    assert of("Workers") == "No worker works and none ever has."


def test_a_silent_worker_is_named_with_its_host() -> None:
    a_worker("pay-2", seen=2 * MINUTE)
    assert of("Workers").startswith("The worker on pay-2 (process 7) is silent since ")


def test_a_sweep_that_fails_is_named_with_the_class_of_its_error_alone() -> None:
    Sweep.objects.filter(name="send_messages").update(error="SMTPException", worked_at=Now() - HOUR)
    assert of("Background tasks").endswith("it fails with SMTPException.")


def test_redis_that_is_down(settings: Settings) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert of("Redis") == "Redis does not answer (ConnectionError)."


def test_a_provider_that_does_not_answer(live: Api, north: Psp, shop: NewMerchant) -> None:
    route_to(account_at(north, shop.merchant))
    wear_out(live, north, times=4)
    assert "Providers" not in found()
    wear_out(live, north, times=1)
    assert found()["Providers"] == ["North does not answer on 1 routes, such as card of Sari Store."]


def test_an_outcome_that_is_unknown_for_long(shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, clock.now() - timedelta(minutes=10), number=ANSWER_LOST)
    assert "Unknown outcomes" not in found()
    make_past_charge(shop.merchant, clock.now() - timedelta(minutes=20), number=ANSWER_LOST)
    assert found()["Unknown outcomes"][0].startswith("2 outcomes are unknown, the oldest since ")


def test_webhooks_that_wait(shop: NewMerchant) -> None:
    put_events(shop.merchant, URL, 3, clock.now())
    assert found() == {}
    Webhook.objects.update(due_at=Now() - 3 * MINUTE)
    assert of("Webhooks").startswith("3 webhooks to 1 receivers are due, the oldest since ")


def test_receivers_that_fail_are_named_with_their_merchants_and_no_path(shop: NewMerchant) -> None:
    for number in range(7):
        put_events(shop.merchant, f"https://shop{number}.example/secret-path", 2, clock.now())
    Webhook.objects.update(failures=1, due_at=Now() + HOUR)
    whats = found()["Webhooks"]
    assert len(whats) == findings.RECEIVERS_NAMED + 1
    assert whats[0].startswith("Webhooks to https://shop")
    assert whats[0].endswith(" fail: 2 failed, 0 are due.")
    assert whats[-1] == "Webhooks to 2 other receivers fail."
    assert "secret-path" not in "".join(whats)


def test_messages_to_payers_that_wait_for_long(shop: NewMerchant) -> None:
    message = put_into_outbox(captured(shop.merchant))
    assert found() == {}
    PayerMessage.objects.filter(pk=message.pk).update(created_at=clock.now() - 2 * HOUR)
    assert of("Messages to payers").startswith("1 messages to payers wait, the oldest since ")


def test_a_money_check_that_failed_is_late_or_never_was() -> None:
    MoneyCheck.objects.update(failures=[{"name": "refunds_add_up", "count": 1}])
    assert of("Money check").endswith("failed: refunds_add_up.")
    MoneyCheck.objects.update(failures=[], started_at=clock.now() - timedelta(hours=27))
    assert of("Money check").startswith("The last money check began at ")
    MoneyCheck.objects.all().delete()
    assert of("Money check") == "No money check has finished yet."


def test_that_no_head_of_the_log_was_signed_for_hours(settings: Settings) -> None:
    settings.TRANSPARENCY_KEYS = f"t1:{OTHER_KEY}"
    LogHead.objects.create(size=1, signed_at=clock.now() - 4 * HOUR, note="")
    assert of("Transparency log").startswith("The last head of the transparency log was signed at ")


def test_that_no_head_was_ever_signed_or_one_in_the_future(settings: Settings) -> None:
    LogProgress.objects.create(size=1)
    settings.TRANSPARENCY_KEYS = ""
    assert found() == {}
    settings.TRANSPARENCY_KEYS = f"t1:{OTHER_KEY}"
    assert of("Transparency log") == "No head of the transparency log was signed yet; one is due every hour."
    LogHead.objects.create(size=1, signed_at=clock.now() + HOUR, note="")
    assert of("Transparency log").startswith("The last head of the transparency log says that it was signed at ")


@pytest.mark.parametrize("table", PARTITIONED)
def test_a_partition_that_is_missing_ahead(table: str) -> None:
    [read] = [each for each in facts.partitions() if each.table == table]
    with connection.cursor() as cursor:
        cursor.execute("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass", [table])
        names = [name for (name,) in cursor.fetchall()]
        for name in names:
            if name >= f"{table}_{read.needed:%Y_%m_%d}"[: len(name)]:
                cursor.execute(f"DROP TABLE {name}")
    assert of("Partitions").startswith(f"{table} has no partition from {read.needed} on")


def test_a_month_that_is_missing_in_between_stops_serving() -> None:
    [read] = [each for each in facts.partitions() if each.table == "payments_event"]
    starts = [day for day in read.starts if day != read.used[0]]
    [finding] = findings.of_partitions([replace(read, starts=starts)])
    assert (finding.stops_serving, f"no partition from {read.used[0]} on" in finding.what) == (True, True)


def test_a_migration_that_is_not_applied() -> None:
    MigrationRecorder.Migration.objects.filter(app="customers").delete()
    assert of("Migrations") == "1 migrations are not applied, the first is customers.0001_initial."


def test_a_disk_that_runs_full(settings: Settings) -> None:
    use = facts.database_use()
    assert 10**6 < use.size_bytes < 10**10
    gigabytes = DatabaseUse(85 * 10**9, use.connections_max, use.connections)
    for settings.DATABASE_DISK_GB, urgent in ((100, [False]), (90, [True]), (0, [])):
        assert [finding.urgent for finding in findings.of_database(gigabytes)] == urgent


def test_connections_of_the_database_that_run_out() -> None:
    use = facts.database_use()
    assert 0 < use.connections < use.connections_max
    assert list(findings.of_database(DatabaseUse(1, use.connections, use.connections)))


def test_a_clock_that_is_apart() -> None:
    assert abs(facts.clock_difference()) < findings.CLOCK_MAX_DIFFERENCE
    [finding] = findings.of_clock(timedelta(seconds=-5))
    assert finding.what == "The clock of this host is 5.0 s behind the database's."


def test_a_live_key_in_use_that_expires_soon(shop: NewMerchant) -> None:
    for members in ({"livemode": False}, {"last_used_at": None}, {"revoked_at": clock.now()}):
        soon = {"livemode": True, "last_used_at": clock.now(), "expires_at": clock.now() + timedelta(days=3)}
        ApiKeyFactory(merchant=shop.merchant, **soon | members)
    assert found() == {}
    ApiKeyFactory(merchant=shop.merchant, **soon | {"revoked_at": None})
    assert of("API keys").startswith("1 live API keys in use expire within two weeks, first sk_live_…")


def test_live_cards_without_a_bin_table(settings: Settings) -> None:
    settings.LIVE_CARDS_ATTESTED = True
    assert of("BIN table").startswith("The BIN table is empty")
    BinRange.objects.create(prefix="4242", brand="visa", funding="credit", country="PH", issuing_bank="Bank of Manila")
    assert found() == {}


def test_a_key_encryption_key_that_is_gone(settings: Settings) -> None:
    key = new_key(Purpose.CARD)
    DataKey.objects.create(id=key.id, purpose=key.purpose, kek=key.kek, wrapped=key.wrapped)
    assert found() == {}
    settings.VAULT_KEYS = f"another:{OTHER_KEY}"
    assert of("Vault keys") == f"Data keys wrapped by {key.kek} cannot be opened."


def test_a_certificate_that_ends_soon(tmp_path: Path, settings: Settings) -> None:
    server = TlsServer(tmp_path)
    settings.PUBLIC_URL = server.url.replace("rediss://", "https://").removesuffix("/0")
    assert of("Certificate").startswith("The certificate at PUBLIC_URL ends at ")
    server.close()


def test_an_unused_slot_that_keeps_wal(monkeypatch: pytest.MonkeyPatch) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_create_physical_replication_slot('left_over', true)")
        try:
            assert found() == {}
            monkeypatch.setattr(findings, "SLOT_MAX_BYTES", -1)
            assert of("Standbys").startswith("Nobody reads the replication slot left_over, which keeps ")
        finally:
            cursor.execute("SELECT pg_drop_replication_slot('left_over')")


@pytest.mark.django_db(transaction=True)
def test_a_check_that_takes_too_long_ends_and_the_others_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "STATEMENT_LIMIT", "50ms")
    locked, done = threading.Event(), threading.Event()

    def lock() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE payments_webhook IN ACCESS EXCLUSIVE MODE")
            locked.set()
            done.wait(30)
        connection.close()

    thread = threading.Thread(target=lock)
    thread.start()
    assert locked.wait(10)
    try:
        assert found()["Webhooks"] == ["This could not be checked (QueryCanceled)."]
    finally:
        done.set()
        thread.join()


def test_a_python_that_was_built_without_optimizations_is_said_with_those_it_lacks() -> None:
    [one] = findings.of_python("'--enable-optimizations' '--enable-shared'")
    assert (one.what, one.degree) == ("Python was built without link-time optimization.", "advice")
    assert list(findings.of_python("'--enable-shared' '--prefix=/usr'")) == []
