"""Saved views that come by themselves as files, in the back office and on the merchants' site."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.test import Client

from payments import clock
from payments.admin.lists import page, schedules
from payments.domain.maintenance.retention import delete_old_rows
from payments.domain.merchants.merchants import NewMerchant
from payments.merchant_site.site import merchant_site
from payments.models import AuditEntry, FileSchedule, MerchantAccess, Notification, SavedView, SentFile
from payments.staff.models import OperatorProfile
from payments.sweeps import in_turn
from payments.vault import VaultUnavailable
from tests.admin.conftest import House, client_of, text_of, the_operator, words_of
from tests.admin.scheduled import OFFICE, PAST, SITE, act, come, got, raising, save
from tests.client import signed_in
from tests.factories import ChargeFactory, MerchantFactory
from tests.merchant_site.conftest import Role, member

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("mail_server")]
RIGHTS = ["view_charge", "export_list", "view_fileschedule"]


@pytest.mark.parametrize("site", [admin.site, merchant_site], ids=["office", "merchants"])
def test_every_list_that_can_be_saved_comes(
    site: Any, house: House, operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedules, "MOST_SCHEDULES", 100)
    monkeypatch.setattr(page, "MOST_VIEWS", 100)
    monkeypatch.setattr("payments.merchant_site.pages.statements.is_final", lambda _: True)
    client = operator if site is admin.site else signed_in(member(house.shop.merchant))
    base, wanted = site.prefix, set()
    for each in site.pages():
        answer = client.post(
            f"{base}{each.opts.label_lower.replace('.', '/')}/saveview/?mode=test",
            {"name": "x", "query": "", "every": "daily"},
        )
        if answer.status_code != 403 and SavedView.objects.filter(model=each.opts.label_lower).exists():
            wanted.add(each.opts.label_lower)
    assert len(wanted) > 15
    FileSchedule.objects.update(due_at=PAST)
    monkeypatch.setattr(in_turn, "RUN_SECONDS", 300.0)
    schedules.send_due()
    assert {row.view.model: row.stopped for row in FileSchedule.objects.exclude(stopped="")} == {}
    came = {file.schedule.view.model for file in SentFile.objects.all()}
    assert wanted - came == set()
    for file in SentFile.objects.all():
        linked = client.get(f"{base}payments/fileschedule/{file.schedule_id}/download/")
        assert str(file.pk) in text_of(linked), file.schedule.view.model
        answer = act(client, file.schedule, "download", f"{base}payments", file=file.pk)
        assert answer.streaming, file.schedule.view.model
        answer.getvalue()


def test_a_file_has_what_the_list_shows_and_is_sealed(operator: Client) -> None:
    held = ChargeFactory(is_held=True, description="Two mangoes")
    ChargeFactory(is_captured=True)
    schedule = come(save(operator, query="money=held"))
    [head, line] = got(operator, schedule).splitlines()
    assert held.pk.hex in line
    file = SentFile.objects.get()
    assert (file.size, b"mangoes" in bytes(file.sealed_content)) == (len(f"{head}\r\n{line}\r\n".encode()) + 3, False)
    assert (schedule.due_at, schedule.tries) == (schedule.next_at, 0)
    shown = text_of(operator.get(f"{OFFICE}/fileschedule/"))
    assert all(text in shown for text in ("Mine", "charges", "Daily", " kB"))


def test_a_long_file_is_opened_in_pieces(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedules, "PIECE_BYTES", 100)
    ChargeFactory(is_held=True)
    schedule = come(save(operator))
    assert len(got(operator, schedule).encode()) + 3 == SentFile.objects.get().size


def test_each_file_is_recorded_once_for_all_who_get_it_and_so_is_each_download(operator: Client) -> None:
    schedule = come(save(operator))
    got(operator, schedule)
    details = [entry.detail for entry in AuditEntry.objects.filter(action="exported").order_by("pk")]
    size = SentFile.objects.get().size
    assert details[0] == f"list of payments.charge, all, {size} bytes, for operator"
    assert details[1].startswith("Mine, ")
    assert len(details) == 2


def test_a_file_is_not_open_to_who_sees_less_than_when_it_was_made(db: None) -> None:
    shop, other = MerchantFactory(), MerchantFactory()
    user, client = the_operator(), Client()
    user.is_superuser = False
    user.save()
    user.user_permissions.set(Permission.objects.filter(codename__in=RIGHTS))
    MerchantAccess.objects.bulk_create(MerchantAccess(user=user, merchant=each) for each in (shop, other))
    client.force_login(user)
    ChargeFactory(is_held=True, merchant=other)
    schedule = come(save(client))
    assert len(got(client, schedule).splitlines()) == 2
    MerchantAccess.objects.filter(merchant=other).delete()
    assert got(client, schedule) == ""
    assert len(got(client, come(schedule)).splitlines()) == 1
    user.user_permissions.remove(Permission.objects.get(codename="export_list"))
    assert got(client, schedule) == ""


def end_access(schedule: FileSchedule) -> None:
    MerchantAccess.objects.filter(user=schedule.view.user).delete()


def lower_role(schedule: FileSchedule) -> None:
    MerchantAccess.objects.filter(user=schedule.view.user).update(role=Role.VIEWER)


def disable(schedule: FileSchedule) -> None:
    User.objects.filter(pk=schedule.view.user_id).update(is_active=False)


def remove_model(schedule: FileSchedule) -> None:
    SavedView.objects.update(model="payments.gone")


def remove_filter(schedule: FileSchedule) -> None:
    SavedView.objects.update(query="gone=1")


@pytest.mark.parametrize("end", [end_access, lower_role, disable, remove_model, remove_filter])
def test_a_right_or_a_list_that_is_gone_stops_the_schedule_and_says_so(end: Any, shop: NewMerchant) -> None:
    user = member(shop.merchant, name="mia")
    User.objects.filter(pk=user.pk).update(email="mia@shop.example")
    client = signed_in(user)
    schedule = save(client, SITE)
    end(schedule)
    schedule = come(schedule)
    assert (schedule.next_at, schedule.due_at, SentFile.objects.count()) == (None, None, 0)
    assert schedule.stopped in (schedules.NOT_SEEN, schedules.NO_FILTERS)
    mails = [row.text for row in Notification.objects.all()]
    assert all(text.startswith("A scheduled file has stopped\n") for text in mails)
    assert len(mails) == (0 if end is disable else 1)
    if end in (remove_model, remove_filter):
        assert schedule.stopped in words_of(client.get(f"{SITE}/fileschedule/{schedule.pk}/change/"))
        assert "stopped" in words_of(client.get(f"{SITE}/fileschedule/"))


def test_colleagues_get_it_while_they_may_see_the_list(shop: NewMerchant, other_shop: NewMerchant) -> None:
    people = {role: member(shop.merchant, role, role) for role in (Role.OWNER, Role.FINANCE, Role.VIEWER)}
    outsider = member(other_shop.merchant, name="outsider")
    for user in (*people.values(), outsider):
        User.objects.filter(pk=user.pk).update(email=f"{user.username}@shop.example")
    OperatorProfile.objects.create(user=people[Role.FINANCE], language="fil")
    ChargeFactory(is_held=True, merchant=shop.merchant, description="Juan's order")
    schedule = come(save(signed_in(people[Role.OWNER]), SITE, name="Juan", colleagues="1"))
    mails = {row.operator.username: row.text for row in Notification.objects.select_related("operator")}  # type: ignore[union-attr]
    link = f"/merchant/payments/fileschedule/{schedule.pk}/download/"
    assert mails.keys() == {"owner", "finance"}
    assert mails["owner"].startswith("A scheduled file is ready\n")
    assert mails["finance"].startswith("May nakahanda nang nakaiskedyul na file\n")
    assert all(text.endswith(link) and "Juan" not in text for text in mails.values())
    finance = signed_in(people[Role.FINANCE])
    assert " kB" in text_of(finance.get(link))
    assert "order" in got(finance, schedule, SITE)
    assert "Mine" not in words_of(finance.get(f"{SITE}/charge/"))
    assert {act(finance, schedule, name, SITE).status_code for name in ("pause", "send-now", "delete-schedule")} == {
        404
    }
    assert {
        act(signed_in(each), schedule, "download", SITE).status_code for each in (people[Role.VIEWER], outsider)
    } <= {403, 404}
    lower_role(FileSchedule(view=SavedView(user=people[Role.FINANCE])))
    assert act(finance, schedule, "download", SITE, file=SentFile.objects.get().pk).status_code in (403, 404)
    alone = come(save(signed_in(people[Role.OWNER]), SITE, name="Own"))
    assert act(finance, alone, "download", SITE).status_code in (403, 404)


def test_the_newest_files_of_a_schedule_are_kept(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedules, "MOST_FILES", 2)
    schedule = save(operator)
    made = [come(schedule) and SentFile.objects.latest("pk").pk for _ in range(3)]
    assert [file.pk for file in SentFile.objects.order_by("pk")] == made[1:]


def test_a_part_of_the_audit_log_says_that_it_is_one(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = save(operator, model="auditentry")
    assert "Cut" not in got(operator, come(schedule))
    monkeypatch.setattr(schedules, "MOST_LINES", 1)
    _, _, last = got(operator, come(schedule)).splitlines()
    assert last.startswith('"Cut after 1 rows')


def test_the_days_of_all_merchants_are_no_file_for_an_operator_of_some(db: None) -> None:
    client = client_of("vic", "view_ledgerday", "export_list")
    rights = Permission.objects.filter(codename__in=["view_ledgerday", "export_list"])
    User.objects.get(username="vic").user_permissions.set(rights)
    assert client.post(f"{OFFICE}/ledgerday/csv/").status_code == 403
    client.post(f"{OFFICE}/ledgerday/saveview/", {"name": "Mine", "query": "", "every": "daily"})
    assert FileSchedule.objects.count() == 0


def test_mail_to_who_works_for_two_merchants_says_for_which_it_is(shop: NewMerchant, other_shop: NewMerchant) -> None:
    user = member(shop.merchant, name="mia")
    User.objects.filter(pk=user.pk).update(email="mia@shop.example")
    MerchantAccess.objects.create(user=user, merchant=other_shop.merchant, role=Role.OWNER)
    client = signed_in(user)
    client.post("/merchant/switch/", {"merchant": other_shop.merchant.pk.hex})
    come(save(client, SITE))
    assert Notification.objects.get().text.splitlines()[1] == other_shop.merchant.title


def test_who_may_not_export_has_nothing_sent(db: None) -> None:
    client = client_of("vic", "view_charge")
    client.post(f"{OFFICE}/charge/saveview/", {"name": "Mine", "query": "", "every": "daily"})
    assert (FileSchedule.objects.count(), SavedView.objects.count()) == (0, 0)
    assert "Send on a schedule" not in text_of(client.get(f"{OFFICE}/charge/?money=held"))


def test_the_file_is_gone_after_thirty_days_and_with_its_schedule_view_and_person(operator: Client) -> None:
    schedule = come(save(operator))
    with clock.at(clock.now() + timedelta(days=31)):
        delete_old_rows()
    assert SentFile.objects.count() == 0
    come(schedule)
    act(operator, schedule, "delete-schedule")
    assert (SentFile.objects.count(), FileSchedule.objects.count(), SavedView.objects.count()) == (0, 0, 1)
    come(save(operator))
    operator.post(f"{OFFICE}/charge/dropview/", {"view": SavedView.objects.get().pk})
    assert (SentFile.objects.count(), FileSchedule.objects.count(), SavedView.objects.count()) == (0, 0, 0)
    assert AuditEntry.objects.filter(action="deleted").count() == 2
    come(save(operator))
    the_operator().delete()
    assert SentFile.objects.count() == 0


def test_a_vault_that_does_not_answer_is_said_at_the_download(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule = come(save(operator))
    monkeypatch.setattr(schedules, "unseal", raising(VaultUnavailable("down")))
    answer = act(operator, schedule, "download", file=SentFile.objects.get().pk)
    assert "cannot be opened at the moment" in words_of(answer)
