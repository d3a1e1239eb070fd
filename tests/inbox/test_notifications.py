"""Messages about what needs attention: once an event, at a real mail server and a real chat receiver."""

import json
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db.models import F, Value
from django.db.models.functions import Concat
from django.urls import reverse
from pytest_django.fixtures import Settings

from payments import clock
from payments.domain.maintenance.retention import delete_old_rows
from payments.domain.merchants.merchants import NewMerchant
from payments.inbox.announcements import announce
from payments.inbox.mails import SINGLES_AN_HOUR, send_due
from payments.inbox.sections import SORT_NAMES
from payments.models import Notification, NotificationChoice, WebhookEndpoint
from payments.webhooks.retry_schedule import TRIED_FOR
from tests.client import signed_in
from tests.inbox.smtp import Server, use
from tests.merchant_site.conftest import member
from tests.operators.factories import person
from tests.overview.past_charges import make_past_charge
from tests.support.receiver import Receiver
from tests.sweeps.factories import a_worker
from tests.webhooks.endpoints import add_endpoint

pytestmark = pytest.mark.long


@pytest.fixture(autouse=True)
def worker(db: None) -> None:
    """Have a worker at work, whose absence would need attention too."""
    a_worker()


def who_wants(mode: str, name: str = "ben", role: str = "viewer", sorts: list[str] | None = None) -> User:
    user = person(name, role)
    User.objects.filter(pk=user.pk).update(email=f"{name}@kaha.example")
    NotificationChoice.objects.create(operator=user, mode=mode, sorts=sorts or list(SORT_NAMES))
    return user


def hold(shop: NewMerchant, count: int = 1) -> None:
    for _ in range(count):
        make_past_charge(shop.merchant, clock.now() - timedelta(days=6), hold=True)


def test_an_event_is_mailed_once_with_sort_amount_and_link(shop: NewMerchant, server: Server) -> None:
    who_wants("each")
    hold(shop)
    for _ in range(2):
        announce()
        send_due()
    [mail] = server.mails
    text = mail.get_payload(decode=True).decode()
    assert mail["To"] == "ben@kaha.example"
    assert mail["Subject"].startswith("kaha: Holds that expire: PHP 100.00, by ")
    assert "/admin/payments/charge/" in text
    assert shop.merchant.title not in text


def test_the_merchants_own_people_get_one_mail_about_an_endpoint_that_was_disabled(
    shop: NewMerchant, server: Server
) -> None:
    for role in ("owner", "developer", "finance"):
        member(shop.merchant, role, role)
    User.objects.update(email=Concat(F("username"), Value("@shop.example")))
    add_endpoint(shop.merchant, "https://shop.example/hooks", ("charge.succeeded",))
    WebhookEndpoint.objects.update(status="disabled", gave_up_at=clock.now())
    for _ in range(2):
        announce()
        send_due()
    assert sorted(mail["To"] for mail in server.mails) == ["developer@shop.example", "owner@shop.example"]
    assert "/merchant/payments/webhookendpoint/" in server.mails[0].get_payload(decode=True).decode()


def test_who_asked_for_nothing_or_has_no_address_gets_nothing(shop: NewMerchant, server: Server) -> None:
    who_wants("none")
    User.objects.filter(pk=who_wants("each", "cora").pk).update(email="")
    who_wants("each", "dan", sorts=["unknown"])
    hold(shop)
    announce()
    assert (send_due(), Notification.objects.count()) == (0, 0)


def test_more_than_the_limit_of_an_hour_come_in_one_mail(shop: NewMerchant, server: Server) -> None:
    who_wants("each")
    hold(shop, SINGLES_AN_HOUR + 12)
    announce()
    assert send_due() == SINGLES_AN_HOUR + 1
    assert "and 2 more" in server.mails[-1].get_payload(decode=True).decode()
    hold(shop)
    announce()
    assert send_due() == 0


def test_a_mail_that_is_refused_is_tried_later_and_given_up_in_the_end(shop: NewMerchant, settings: Settings) -> None:
    who_wants("each", "ben")
    who_wants("each", "cora")
    hold(shop)
    with Server(b"ben@") as server:
        use(settings, server)
        announce()
        assert send_due() == 2
        assert [mail["To"] for mail in server.mails] == ["cora@kaha.example"]
        left = Notification.objects.get(state="waiting")
        assert left.due_at
        assert left.due_at > clock.now()
        Notification.objects.filter(pk=left.pk).update(created_at=clock.now() - TRIED_FOR, due_at=clock.now())
        assert send_due() == 1
    left.refresh_from_db()
    assert (left.due_at, left.state, len(server.mails)) == (None, "given_up", 1)


def test_a_notification_whose_recipient_does_not_exist_is_given_up_and_one_refused_to_us_is_not(
    shop: NewMerchant, settings: Settings
) -> None:
    who_wants("each", "ben")
    hold(shop)
    with Server(b"ben@") as server:
        use(settings, server)
        announce()
        for refusal, is_kept in ((b"550 5.7.1 relaying denied", True), (b"550 5.1.1 nobody", False)):
            server.refusal = refusal
            Notification.objects.update(due_at=clock.now())
            assert (send_due(), server.mails) == (1, [])
            assert Notification.objects.filter(due_at__isnull=False).exists() == is_kept


def test_a_digest_comes_once_a_day_after_its_hour(shop: NewMerchant, server: Server, settings: Settings) -> None:
    who_wants("digest")
    hold(shop, 3)
    settings.DISPLAY_TIME_ZONE, settings.DIGEST_HOUR = "UTC", 8
    day = clock.now().replace(hour=7, minute=0)
    for hour, made in ((7, 0), (8, 1), (9, 0)):
        with clock.at(day.replace(hour=hour)):
            assert announce() == made
    Notification.objects.update(due_at=clock.now())
    send_due()
    [mail] = server.mails
    assert "Holds that expire: 3" in mail.get_payload(decode=True).decode()


def test_the_chat_room_gets_text_as_json_and_a_failure_is_tried_again(shop: NewMerchant, settings: Settings) -> None:
    settings.NOTIFY_ALLOW_LOOPBACK = True
    answers = [500, 200]
    with Receiver(lambda call: answers.pop(0)) as receiver:
        settings.CHAT_WEBHOOK_URL = receiver.url
        hold(shop)
        announce()
        assert (send_due(), len(receiver.calls)) == (1, 1)
        with clock.at(clock.now() + timedelta(minutes=5)):
            assert send_due() == 1
            assert send_due() == 0
    assert list(json.loads(receiver.calls[-1].body)) == ["text"]
    assert "Holds that expire" in json.loads(receiver.calls[-1].body)["text"]


def test_what_was_announced_is_forgotten_after_a_month(shop: NewMerchant, server: Server) -> None:
    who_wants("each")
    hold(shop)
    announce()
    with clock.at(clock.now() + timedelta(days=34)):
        delete_old_rows()
    assert Notification.objects.exists()
    with clock.at(clock.now() + timedelta(days=36)):
        delete_old_rows()
    assert not Notification.objects.exists()


def test_an_operator_chooses_on_their_own_page(db: None) -> None:
    user = who_wants("none")
    client = signed_in(user)
    address = reverse("admin:notifications")
    assert "Holds that expire" in client.get(address).content.decode()
    client.post(address, {"mode": "each", "sorts": ["holds", "money_check"]})
    choice = NotificationChoice.objects.get(operator=user)
    assert (choice.mode, choice.sorts) == ("each", ["holds", "money_check"])
    assert "Select a valid choice" in client.post(address, {"mode": "each", "sorts": ["x"]}).content.decode()
