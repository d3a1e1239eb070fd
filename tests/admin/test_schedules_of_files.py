"""When saved views come as files: on their days, once, and after what failed."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.auth.models import User
from django.db import OperationalError
from django.test import Client

from payments import clock
from payments.admin.lists import schedules
from payments.domain.merchants.merchants import NewMerchant
from payments.models import AuditEntry, Charge, FileSchedule, Notification, SavedView, SentFile
from payments.staff.models import OperatorProfile
from payments.vault import VaultUnavailable
from tests.admin.conftest import text_of, the_operator
from tests.admin.scheduled import SITE, act, asked_now, come, got, raising, save
from tests.client import signed_in
from tests.merchant_site.conftest import Role, member

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("mail_server")]


@pytest.mark.parametrize("error", [VaultUnavailable("down"), OperationalError("down"), OSError("down")])
def test_an_outage_also_of_a_filter_puts_the_file_off_and_is_said_once_and_stops_nothing(
    error: Exception, operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule = save(operator)
    User.objects.update(email="operator@example.com")
    with monkeypatch.context() as patch:
        patch.setattr(schedules, "seal", raising(error))
        failed = come(schedule)
        page = admin.site.get_model_admin(Charge)
        patch.setattr(page, "scheduled_lines", raising(IncorrectLookupParameters(error)))
        again = come(schedule)
    assert (failed.stopped, failed.tries, again.tries, SentFile.objects.count()) == ("", 1, 2, 0)
    assert Notification.objects.get().text.startswith("A scheduled file fails, and is tried again\n")
    assert failed.next_at == schedule.next_at
    assert timedelta() < failed.due_at - clock.now() + timedelta(seconds=10) < timedelta(minutes=1)
    assert come(schedule).tries == 0
    assert SentFile.objects.count() == 1


def test_a_file_that_is_asked_for_leaves_the_regular_ones_as_they_are(operator: Client) -> None:
    schedule = save(operator)
    act(operator, schedule, "send-now")
    schedules.send_due()
    found = FileSchedule.objects.get()
    assert (found.next_at, found.due_at, SentFile.objects.count()) == (schedule.next_at, schedule.next_at, 1)


def test_one_that_is_asked_for_while_the_regular_one_comes_due_is_followed_by_that(operator: Client) -> None:
    schedule = save(operator)
    assert schedule.next_at
    with clock.at(schedule.next_at - timedelta(seconds=1)):
        [claimed] = schedules.DUE.claim(asked_now(schedule), schedules._counted)
    with clock.at(schedule.next_at + timedelta(seconds=1)):
        schedules._finish(claimed, schedules._made(claimed))
        assert FileSchedule.objects.get().due_at == schedule.next_at
        schedules.send_due()
    found = FileSchedule.objects.get()
    assert (SentFile.objects.count(), found.next_at) == (2, schedule.next_at + timedelta(days=1))


def test_a_late_worker_makes_one_file_and_a_pause_has_no_backlog(operator: Client) -> None:
    schedule = save(operator)
    assert schedule.next_at
    with clock.at(schedule.next_at + timedelta(days=9, hours=1)):
        schedules.send_due()
        schedules.send_due()
    assert SentFile.objects.count() == 1
    assert FileSchedule.objects.get().next_at == schedule.next_at + timedelta(days=10)
    act(operator, schedule, "pause")
    with clock.at(schedule.next_at + timedelta(days=30)):
        assert schedules.send_due() == 0
    act(operator, schedule, "resume")
    found = FileSchedule.objects.get()
    assert found.next_at == found.due_at == schedules.following(found.view, "daily")
    assert schedules.send_due() == 0


@pytest.mark.parametrize(
    ("zone", "interval", "now", "day", "hour"),
    [
        ("Europe/Berlin", "daily", "2027-03-27T12:00+00:00", 28, 5),
        ("Europe/Berlin", "daily", "2027-03-26T12:00+00:00", 27, 6),
        ("Europe/Berlin", "daily", "2027-10-30T12:00+00:00", 31, 6),
        ("Asia/Manila", "daily", "2027-01-30T22:00+00:00", 30, 23),
        ("America/New_York", "weekly", "2027-01-31T23:00+00:00", 1, 12),
        ("Asia/Manila", "monthly", "2027-01-31T10:00+00:00", 31, 23),
        ("No/Where", "monthly", "2027-02-28T10:00+00:00", 1, 7),
    ],
)
def test_the_hour_is_the_readers_own_on_every_day(
    zone: str, interval: str, now: str, day: int, hour: int, db: None
) -> None:
    OperatorProfile.objects.create(user=the_operator(), time_zone=zone)
    view = SavedView(user=the_operator(), model="payments.charge", name="x")
    with clock.at(datetime.fromisoformat(now)):
        moment = schedules.following(view, interval)
    assert moment
    assert (moment.astimezone(UTC).day, moment.astimezone(UTC).hour) == (day, hour)
    assert moment.minute == view.pk.int % 60


def test_a_worker_that_died_is_followed_by_another_and_two_never_send_one_file(operator: Client) -> None:
    schedule = save(operator)
    [dead] = schedules.DUE.claim(asked_now(schedule), schedules._counted)
    assert schedules.send_due() == 0
    slow = schedules._made(dead)
    come(schedule)
    schedules._finish(dead, slow)
    assert (SentFile.objects.count(), AuditEntry.objects.filter(action="exported").count()) == (1, 1)


def test_who_is_paused_or_loses_a_right_while_a_file_is_made_gets_none(operator: Client) -> None:
    schedule = save(operator)
    [claimed] = schedules.DUE.claim(asked_now(schedule), schedules._counted)
    made = schedules._made(claimed)
    act(operator, FileSchedule.objects.get(), "pause")
    schedules._finish(claimed, made)
    act(operator, schedule, "send-now")
    [claimed] = schedules.DUE.claim(asked_now(schedule), schedules._counted)
    made = schedules._made(claimed)
    User.objects.update(is_superuser=False)
    schedules._finish(claimed, made)
    schedules.send_due()
    assert (SentFile.objects.count(), FileSchedule.objects.get().stopped) == (0, schedules.NOT_SEEN)


def test_the_statement_of_the_month_before_comes_once_it_is_final(
    shop: NewMerchant, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, months = signed_in(member(shop.merchant, Role.FINANCE)), f"{SITE}/statement/"
    assert 'name="every" value="monthly"' in text_of(client.get(months))
    assert "every" not in text_of(signed_in(member(shop.merchant, Role.SUPPORT)).get(f"{SITE}/charge/"))
    schedule = save(client, SITE, "statement", every="monthly")
    waits = come(schedule)
    assert (SentFile.objects.count(), waits.stopped, waits.tries) == (0, "", 1)
    monkeypatch.setattr("payments.merchant_site.pages.statements.is_final", lambda _: True)
    come(schedule)
    assert "merchant_id" in got(client, schedule, SITE)


def test_a_person_has_a_limited_number_of_them(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedules, "MOST_SCHEDULES", 2)
    for name in ("one", "two", "three"):
        save(operator, name=name)
    assert (FileSchedule.objects.count(), SavedView.objects.count()) == (2, 2)
    save(operator, name="two", every="weekly")
    assert FileSchedule.objects.filter(interval="weekly").count() == 1
