"""The signed head of the transparency log by e-mail: the first of each day, to the operators who asked."""

from datetime import timedelta

import pytest
from pytest_django.fixtures import Settings

from payments import clock
from payments.inbox.announcements import announce
from payments.inbox.mails import SINGLES_AN_HOUR, send_mails
from payments.models import LogHead, Notification, NotificationChoice
from tests.inbox.smtp import Server, use
from tests.operators.factories import person

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("noon")]
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
        assert send_mails() == 1 + SINGLES_AN_HOUR + 1
        [mail] = [mail for mail in server.mails if "transparency" in mail["Subject"]]
    assert mail["Subject"] == "kaha: pay.example.com/transparency"
    assert mail.get_payload(decode=True).decode().replace("\r\n", "\n").strip() == NOTE.strip()
