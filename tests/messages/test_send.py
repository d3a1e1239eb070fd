"""Messages on their way: at a real mail server, once, whatever fails, and to each merchant its share."""

import smtplib
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from pytest_django.fixtures import Settings

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.messages import delivery, to_payers
from payments.domain.messages.kinds import KINDS
from payments.domain.messages.mail import REFUSED_MAX, REFUSES_US
from payments.domain.messages.to_payers import OUTBOX, SHARE, send_due
from payments.health import facts, findings
from payments.inbox.entries import Entry
from payments.inbox.sorts import SORTS
from payments.models import Charge, PayerMessage, Source
from payments.webhooks.retry_schedule import TRIED_FOR
from tests.client import Api
from tests.inbox.smtp import Server, use
from tests.messages.letters import captured, header, parts, put_into_outbox, standing

pytestmark = pytest.mark.django_db
State = PayerMessage.State
ALL = f"{REFUSES_US}, or all recipients: "


@pytest.fixture
def charge(shop: NewMerchant) -> Charge:
    return captured(shop.merchant, amount=245_000)


def test_a_receipt_is_mailed_once_in_the_name_of_the_merchant(
    charge: Charge, server: Server, settings: Settings
) -> None:
    settings.DEFAULT_FROM_EMAIL = "kaha <receipts@pay.example>"
    message = put_into_outbox(charge)
    assert (send_due(), send_due()) == (1, 0)
    [mail] = server.mails
    assert header(mail, "From") == "Sari Store <receipts@pay.example>"
    assert (mail["To"], mail["Reply-To"]) == ("juan@example.com", "hello@tala.example")
    assert header(mail, "Subject") == "Receipt from Sari Store: ₱2,450.00"
    assert (mail["Message-ID"], mail["Auto-Submitted"]) == (f"<{message.id.hex}@pay.example>", "auto-generated")
    assert mail.get_content_type() == "multipart/alternative"
    message.refresh_from_db()
    assert (message.state, message.recipient, message.due_at) == (State.SENT, "juan@example.com", None)
    assert (message.subject, message.text) == (header(mail, "Subject"), parts(mail)[0].replace("\r\n", "\n"))


@pytest.mark.long
def test_test_mode_keeps_what_it_would_send(api: Api, shop: NewMerchant, server: Server) -> None:
    message = put_into_outbox(captured(shop.merchant, livemode=False))
    assert send_due() == 1
    assert server.mails == []
    assert standing(message) == (State.KEPT, 0, "")
    assert "Paid on" in message.text


def test_without_a_mail_server_live_mails_wait_and_test_ones_are_kept(shop: NewMerchant, settings: Settings) -> None:
    settings.EMAIL_HOST = ""
    live = put_into_outbox(captured(shop.merchant))
    kept = put_into_outbox(captured(shop.merchant, livemode=False))
    assert send_due() == 1
    assert [standing(live)[0], standing(kept)[0]] == [State.WAITING, State.KEPT]


@pytest.mark.long
def test_a_server_that_is_down_is_tried_again_and_asked_once_a_sweep(
    shop: NewMerchant, server: Server, settings: Settings
) -> None:
    messages = [put_into_outbox(captured(shop.merchant)) for _ in range(3)]
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, 1
    assert send_due() == 1
    assert sorted(standing(each)[1] for each in messages) == [0, 0, 1]
    settings.EMAIL_PORT = port
    with clock.at(clock.now() + timedelta(seconds=10)):
        assert send_due() == 3
    assert len(server.mails) == 3


@pytest.mark.long
def test_an_address_that_the_server_refuses_for_good_is_given_up(shop: NewMerchant, settings: Settings) -> None:
    refused = put_into_outbox(captured(shop.merchant))
    taken = put_into_outbox(captured(shop.merchant, owner={"billing": {"email": "maria@example.com"}}))
    with Server(b"juan@") as server:
        server.refusal = b"550 5.1.1 no such user"
        use(settings, server)
        assert send_due() == 2
    assert standing(refused) == (State.GIVEN_UP, 0, "The mail server answered 550 5.1.1.")
    assert standing(taken)[0] == State.SENT


@pytest.mark.long
def test_a_bare_refusal_is_the_recipients_once_the_server_has_taken_others(
    shop: NewMerchant, settings: Settings
) -> None:
    refused = put_into_outbox(captured(shop.merchant))
    with Server(b"juan@") as server:
        use(settings, server)
        assert send_due() == 1
        assert standing(refused) == (State.WAITING, 1, f"{ALL}The mail server answered 550.")
        put_into_outbox(captured(shop.merchant, owner={"billing": {"email": "maria@example.com"}}))
        assert send_due() == 1
        with clock.at(clock.now() + timedelta(seconds=10)):
            assert send_due() == 1
    assert standing(refused) == (State.GIVEN_UP, 1, "The mail server answered 550.")


@pytest.mark.parametrize(
    ("refusal", "at_data", "why"),
    [
        (b"550 5.7.1 relaying denied", b"", f"{REFUSES_US}: The mail server answered 550 5.7.1."),
        (b"", b"554 5.7.1 sender not verified", f"{REFUSES_US}: The mail server answered 554 5.7.1."),
        (b"", b"550 account suspended", f"{ALL}The mail server answered 550."),
    ],
    ids=["relaying denied", "sender not verified", "account suspended"],
)
def test_a_refusal_of_us_is_tried_again_and_shown(
    charge: Charge, settings: Settings, refusal: bytes, at_data: bytes, why: str
) -> None:
    message = put_into_outbox(charge)
    with Server(b"juan@" if refusal else b"none") as server:
        server.refusal, server.refusal_of_data = refusal, at_data
        use(settings, server)
        assert send_due() == 1
    assert standing(message) == (State.WAITING, 1, why)
    [finding] = findings.of_messages(facts.late_messages())
    assert why in finding.what
    assert [entry.about for entry in shown_in_inbox()] == [why]


def shown_in_inbox() -> Sequence[Entry]:
    [sort] = [sort for sort in SORTS if sort.name == "messages"]
    return sort.section(None, 10).entries


@pytest.mark.long
def test_a_server_that_refuses_all_is_left_alone_until_the_next_sweep(shop: NewMerchant, settings: Settings) -> None:
    for _ in range(REFUSED_MAX + 1):
        put_into_outbox(captured(shop.merchant))
    with Server(b"juan@") as server:
        server.refusal = b"550 5.7.1 relaying denied"
        use(settings, server)
        assert send_due() == REFUSED_MAX


def test_what_the_server_does_not_take_for_three_days_is_given_up(
    charge: Charge, server: Server, settings: Settings
) -> None:
    message, settings.EMAIL_PORT = put_into_outbox(charge), 1
    with clock.at(message.created_at + TRIED_FOR):
        assert send_due() == 1
    assert standing(message)[::2] == (State.GIVEN_UP, "ConnectionRefusedError")


@pytest.mark.long
def test_an_address_that_is_refused_for_now_is_tried_for_three_days(shop: NewMerchant, settings: Settings) -> None:
    message, start = put_into_outbox(captured(shop.merchant)), clock.now()
    with Server(b"juan@") as server:
        server.refusal = b"451 later"
        use(settings, server)
        while standing(message)[0] == State.WAITING:
            assert message.due_at
            with clock.at(message.due_at):
                assert send_due() == 1
    assert message.state == State.GIVEN_UP
    assert message.tries > 10
    assert timedelta(days=2) < (message.ended_at or start) - start <= TRIED_FOR


@pytest.mark.long
@pytest.mark.parametrize("address", ["", "juan@example.com\r\nBcc: all@example.com"], ids=["none", "two lines"])
def test_an_address_that_is_none_is_not_tried_again(charge: Charge, server: Server, address: str) -> None:
    message = put_into_outbox(charge)
    Source.objects.filter(pk=charge.source_id).update(owner={"billing": {"email": address}})
    assert send_due() == 1
    assert (standing(message)[0], server.mails) == (State.GIVEN_UP if address else State.DROPPED, [])


@pytest.mark.long
def test_what_a_dead_worker_claimed_is_sent_after_its_lease(charge: Charge, server: Server) -> None:
    message = put_into_outbox(charge)
    OUTBOX.due.claim(PayerMessage.objects.all())
    assert send_due() == 0
    with clock.at(clock.now() + OUTBOX.due.lease):
        assert send_due() == 1
    assert standing(message)[0] == State.SENT


@pytest.mark.long
def test_a_worker_that_dies_after_the_server_took_it_sends_the_same_message_again(
    charge: Charge, server: Server
) -> None:
    class Killed(BaseException):
        pass

    def die(message: PayerMessage) -> None:
        raise Killed

    message = put_into_outbox(charge)
    KINDS["dying"] = replace(KINDS["receipt"], delivered=die)
    PayerMessage.objects.update(kind="dying")
    try:
        with pytest.raises(Killed):
            send_due()
        assert standing(message)[0] == State.WAITING
        PayerMessage.objects.update(kind="receipt")
        with clock.at(clock.now() + OUTBOX.due.lease):
            assert send_due() == 1
    finally:
        del KINDS["dying"]
    assert standing(message)[0] == State.SENT
    assert len({mail["Message-ID"] for mail in server.mails}) == 1


@pytest.mark.long
def test_a_fault_after_the_server_took_it_sends_no_message_again(charge: Charge, server: Server) -> None:
    message = put_into_outbox(charge, kind="faulty")
    KINDS["faulty"] = replace(KINDS["receipt"], delivered=lambda _: 1 / 0)
    try:
        assert (send_due(), len(server.mails)) == (1, 1)
    finally:
        del KINDS["faulty"]
    assert standing(message) == (State.SENT, 0, "")


@pytest.mark.long
def test_what_a_kind_does_after_a_delivery_is_in_the_transaction_that_records_it(
    charge: Charge, server: Server
) -> None:
    states = []
    KINDS["recorded"] = replace(
        KINDS["receipt"], delivered=lambda sent: states.append(PayerMessage.objects.get(pk=sent.pk).state)
    )
    try:
        for livemode in (True, False):
            put_into_outbox(captured(charge.merchant, livemode), kind="recorded")
            send_due()
    finally:
        del KINDS["recorded"]
    assert states == [State.SENT]


@pytest.mark.long
def test_a_fault_in_one_message_does_not_stop_the_others(charge: Charge, shop: NewMerchant, server: Server) -> None:
    broken = put_into_outbox(charge, kind="none_such")
    sound = put_into_outbox(captured(shop.merchant))
    assert send_due() == 2
    assert standing(broken) == (State.WAITING, 1, "KeyError")
    assert standing(sound)[0] == State.SENT


def backlog(charge: Charge, count: int) -> None:
    """Have `count` messages of one merchant be due since an hour."""
    due_at = clock.now() - timedelta(hours=1)
    PayerMessage.objects.bulk_create(
        PayerMessage(
            merchant_id=charge.merchant_id,
            livemode=True,
            kind="receipt",
            about_id=charge.id,
            sequence=number,
            due_at=due_at,
        )
        for number in range(count)
    )


@pytest.mark.long
def test_ten_thousand_captures_of_one_merchant_delay_no_other_receipt(
    charge: Charge, other_shop: NewMerchant, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    backlog(charge, 10_000)
    theirs = [put_into_outbox(captured(other_shop.merchant)) for _ in range(SHARE + 1)]
    # No time at all: a sweep ends after its first message.
    monkeypatch.setattr(delivery, "SWEEP_SECONDS", 0.0)
    for _ in theirs:
        assert send_due() == 1
    assert {standing(each)[0] for each in theirs} == {State.SENT}
    assert PayerMessage.objects.filter(merchant_id=charge.merchant_id).exclude(state=State.WAITING).count() == 0


def test_each_merchant_gets_a_share_in_turn(
    charge: Charge, other_shop: NewMerchant, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(to_payers, "SHARE", 1)
    backlog(charge, 2)
    put_into_outbox(captured(other_shop.merchant))
    assert send_due() == 3
    senders = [header(mail, "From").partition(" <")[0] for mail in server.mails]
    assert senders == ["Other Store"] + ["Sari Store"] * 2


@pytest.mark.long
def test_one_connection_takes_all_mails_of_a_sweep(
    shop: NewMerchant, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []
    connect = smtplib.SMTP.connect
    monkeypatch.setattr(smtplib.SMTP, "connect", lambda self, *given: opened.append(1) or connect(self, *given))
    for _ in range(3):
        put_into_outbox(captured(shop.merchant))
    assert (send_due(), len(opened)) == (3, 1)


def test_what_another_worker_holds_is_not_waited_for(
    charge: Charge, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_into_outbox(charge)
    claims = iter([[]])
    monkeypatch.setattr(type(OUTBOX.due), "claim", lambda *_, **__: next(claims))
    assert send_due() == 0
