"""Statements and the signed head of the transparency log by e-mail."""

from datetime import date, timedelta

import pytest
from django.contrib.auth.models import Group, User
from django.urls import reverse
from pytest_django.fixtures import Settings

from payments import clock
from payments.domain.merchants.merchants import NewMerchant, create_merchant
from payments.inbox.announcements import announce
from payments.inbox.mails import SINGLES_AN_HOUR, send_due
from payments.inbox.statements import ATTACHED_MAX
from payments.ledger.account_days import sum_up_due
from payments.models import (
    AccountDay,
    AuditEntry,
    LogHead,
    Merchant,
    MerchantAccess,
    Notification,
    NotificationChoice,
    RunningBalance,
)
from payments.staff.roles import ALL_MERCHANTS
from tests.client import signed_in
from tests.inbox.smtp import Server, use
from tests.operators.factories import person
from tests.overview.past_charges import days_ago, make_past_charge

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("noon")]


@pytest.fixture
def month(shop: NewMerchant) -> date:
    """Return the first day of the month before this one, which is final, and in which the shop had a live capture."""
    first = (clock.now().date().replace(day=1) - timedelta(days=1)).replace(day=1)
    make_past_charge(shop.merchant, days_ago(70))
    sum_up_due(limit=100)
    give_live_books(shop.merchant, first)
    return first


def give_live_books(merchant: Merchant, day: date) -> None:
    book = {"merchant": merchant, "livemode": True, "currency": "PHP"}
    RunningBalance.objects.create(**book, shard=0, merchant_pending=-123_456)
    sums = {"account": "merchant_pending", "kind": "capture", "debits": 0, "credits": 123_456, "postings": 1}
    AccountDay.objects.create(**book, **sums, day=day)


def who_asks(*merchants: Merchant, role: str = "finance") -> User:
    """Return an operator of these merchants, or of all, who wants statements alone."""
    user = person("cora", role)
    User.objects.filter(pk=user.pk).update(email="cora@kaha.example")
    if merchants:
        user.groups.remove(Group.objects.get(name=ALL_MERCHANTS))
        MerchantAccess.objects.bulk_create(MerchantAccess(user=user, merchant=each) for each in merchants)
    NotificationChoice.objects.create(operator=user, mode="digest", sorts=["statements"])
    return user


@pytest.mark.long
def test_who_asks_gets_the_statement_of_a_month_once_also_after_the_server_was_down(
    shop: NewMerchant, month: date, server: Server, settings: Settings
) -> None:
    cora = who_asks(shop.merchant)
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, 1
    assert (announce(), send_due(), server.mails) == (1, 1, [])
    assert not AuditEntry.objects.filter(action="exported").exists()
    settings.EMAIL_PORT = port
    with clock.at(clock.now() + timedelta(minutes=5)):
        for _ in range(2):
            announce()
            send_due()
    [mail] = server.mails
    name = f"Statement of Sari Store, {month:%B %Y}"
    text, file = mail.get_payload()
    assert (mail["To"], mail["Subject"]) == ("cora@kaha.example", f"kaha: {name}")
    assert (
        f"/statement/{shop.merchant.pk}/change/?month={month:%Y-%m}&mode=live" in text.get_payload(decode=True).decode()
    )
    assert (file.get_filename(), file.get_payload(decode=True)[:5]) == (f"{name}.pdf", b"%PDF-")
    entry = AuditEntry.objects.get(action="exported")
    assert (entry.object_id, entry.detail) == (str(cora.pk), f"{name}.pdf, by e-mail")


@pytest.mark.long
def test_nothing_is_mailed_before_the_month_is_final(shop: NewMerchant, server: Server) -> None:
    who_asks(shop.merchant)
    make_past_charge(shop.merchant, days_ago(70))
    give_live_books(shop.merchant, days_ago(40).date())
    assert announce() == 0


@pytest.mark.long
@pytest.mark.parametrize(("role", "own"), [("viewer", True), ("finance", False)])
def test_who_may_not_have_a_statement_is_mailed_none(
    role: str, own: bool, shop: NewMerchant, month: date, server: Server
) -> None:
    who_asks(shop.merchant if own else create_merchant("Other Store").merchant, role=role)
    assert announce() == 0


@pytest.mark.long
def test_a_right_that_ends_before_the_mail_is_sent_takes_the_file_with_it(
    shop: NewMerchant, month: date, server: Server
) -> None:
    cora = who_asks(shop.merchant)
    announce()
    MerchantAccess.objects.filter(user=cora).delete()
    send_due()
    [mail] = server.mails
    assert not mail.is_multipart()


@pytest.mark.long
def test_who_works_for_many_merchants_gets_the_link_to_the_list(month: date, server: Server) -> None:
    who_asks()
    for number in range(ATTACHED_MAX):
        give_live_books(create_merchant(f"Store {number}").merchant, month)
    announce()
    send_due()
    [mail] = server.mails
    assert mail["Subject"] == f"kaha: Statements of {month:%B %Y}"
    assert mail.get_payload(decode=True).decode().strip().endswith("/admin/payments/statement/")


@pytest.mark.long
@pytest.mark.parametrize(("role", "is_offered"), [("finance", True), ("viewer", False)])
def test_statements_are_offered_to_those_who_may_download_them(role: str, is_offered: bool, server: Server) -> None:
    page = signed_in(person("ben", role)).get(reverse("admin:notifications")).content.decode()
    assert ("Statements of the month before" in page) == is_offered


NOTE = "pay.example.com/transparency\n1840\nqA4f=\n2026-11-21T02:00:00.123456Z\n\n\N{EM DASH} pay.example.com AQID\n"


@pytest.mark.long
def test_who_asked_gets_the_first_head_of_each_day_once(settings: Settings) -> None:
    user = person("cora", "finance")
    user.email = "cora@kaha.example"
    user.save()
    NotificationChoice.objects.create(operator=user, mode="digest", sorts=["log_heads"])
    with Server() as server:
        use(settings, server)
        assert announce() == 0
        for minutes in (-2_000, -20, -10):
            LogHead.objects.create(size=1_840, signed_at=clock.now() + timedelta(minutes=minutes), note=NOTE)
        # More than come alone in an hour.
        for number in range(SINGLES_AN_HOUR + 3):
            Notification.objects.create(operator=user, key=f"hold:{number}", text="Hold")
        assert announce() == 1
        announce()
        assert send_due() == 1 + SINGLES_AN_HOUR + 1
        [mail] = [mail for mail in server.mails if "transparency" in mail["Subject"]]
    assert mail["Subject"] == "kaha: pay.example.com/transparency"
    assert mail.get_payload(decode=True).decode().replace("\r\n", "\n").strip() == NOTE.strip()
