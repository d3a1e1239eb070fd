"""What a message says: amounts, language, and texts of merchants that change nothing but themselves."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.mail.message import forbid_multi_line_headers
from hypothesis import given
from hypothesis import strategies as st
from pytest_django.fixtures import Settings

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.messages.content import Content, Item, letter_of, one_line
from payments.domain.messages.letters import Letter
from payments.domain.messages.to_payers import send_due
from payments.ids import short_reference
from payments.models import Merchant, PayerMessage
from payments.money import shown_amount
from tests.inbox.smtp import Server
from tests.messages.letters import captured, header, parts, put_into_outbox

NOON = datetime(2026, 11, 26, 12, tzinfo=UTC)
HOSTILE = "<script>alert(1)</script>\r\nBcc: all@example.com\n\u202egnp.exe &amp; ₱0"


def said(template: str = "receipt", title: str = "Tala Coffee", **members: Any) -> Letter:
    merchant = Merchant(**({"title": title, "support_email": "hello@tala.example"} | members.pop("merchant", {})))
    content = Content(merchant, "a@b.example", "₱1.00", **members)
    return letter_of(template, content, PayerMessage(merchant=merchant, livemode=False))


@pytest.mark.parametrize(
    ("amount", "currency", "shown"),
    [
        (245_000, "PHP", "₱2,450.00"),
        (0, "PHP", "₱0.00"),
        (4_800, "USD", "USD\xa048.00"),
        (1_500, "JPY", "JPY\xa01,500"),
    ],
)
def test_amounts_are_shown_as_payers_write_them(amount: int, currency: str, shown: str) -> None:
    assert shown_amount(amount, currency) == shown


@pytest.mark.long
@pytest.mark.django_db
def test_a_receipt_says_what_was_paid_when_and_how(shop: NewMerchant, server: Server, settings: Settings) -> None:
    settings.DISPLAY_TIME_ZONE = "Asia/Manila"
    with clock.at(NOON.replace(hour=20)):
        charge = captured(shop.merchant, amount=245_000)
        put_into_outbox(charge)
        send_due()
    text, html = parts(server.mails[0])
    for part in (text, html):
        assert "Two sacks of rice" in part
        assert "₱2,450.00" in part
        # It is tomorrow in Manila.
        assert "Paid on 27 November 2026" in part
        assert f"Card ending in {charge.source.card.last4}" in part
        assert "SARI STORE" in part
        assert short_reference(charge.id) in part
        assert "hello@tala.example" in part
        assert "0917 555 0142" in part
        assert charge.id.hex not in part
    assert re.findall(r'(?:href|src)="([^"]*)"', html) == ["mailto:hello@tala.example"]
    assert "http" not in text


@pytest.mark.long
@pytest.mark.django_db
def test_a_payer_reads_filipino(shop: NewMerchant, server: Server) -> None:
    with clock.at(NOON):
        put_into_outbox(captured(shop.merchant), locale="fil")
        send_due()
    text, html = parts(server.mails[0])
    assert header(server.mails[0], "Subject") == "Resibo mula sa Sari Store: ₱100.00"
    assert "Binayaran noong 26 Nobyembre 2026" in text
    assert '<html lang="fil"' in html


@pytest.mark.long
@pytest.mark.django_db
def test_hostile_texts_stay_texts(shop: NewMerchant, server: Server) -> None:
    Merchant.objects.filter(pk=shop.merchant.pk).update(title=one_line(HOSTILE))
    put_into_outbox(captured(shop.merchant, description=HOSTILE))
    send_due()
    [mail] = server.mails
    assert mail["Bcc"] is None
    text, html = parts(mail)
    assert "<script>" not in html
    # On one line, with its amount.
    assert f"- {one_line(HOSTILE)}: ₱100.00" in text.splitlines()


@given(st.text())
def test_a_header_takes_every_subject(text: str) -> None:
    subject = said(title=text).subject
    forbid_multi_line_headers("Subject", subject, "utf-8")
    assert subject.splitlines() == [subject]


@pytest.mark.parametrize("name", ["Beans\nTotal: ₱0.00", "Beans\u2028Total: ₱0.00", "Beans\x85Total: ₱0.00"])
def test_an_item_cannot_add_a_line(name: str) -> None:
    letter = said(items=[Item(name, "2 × ₱1.00", "₱2.00")])
    assert "- Beans Total: ₱0.00 (2 × ₱1.00): ₱2.00" in letter.text.splitlines()


def test_a_button_leads_to_the_page_in_both_parts() -> None:
    letter = said("request", url="https://pay.example/r/k3V9?a=1&b=2")
    assert "View and pay ₱1.00:\nhttps://pay.example/r/k3V9?a=1&b=2\n" in letter.text
    assert letter.html.count('href="https://pay.example/r/k3V9?a=1&amp;b=2"') == 2


@pytest.mark.parametrize(
    ("email", "phone", "contact"),
    [
        ("a@b.example", "+63 917", "Questions? Answer this mail, write to a@b.example or call +63 917."),
        ("a@b.example", "", "Questions? Answer this mail or write to a@b.example."),
        ("", "+63 917", "Questions? Call +63 917."),
        ("", "", None),
    ],
)
def test_a_message_says_whom_to_ask(email: str, phone: str, contact: str | None) -> None:
    lines = said(merchant={"support_email": email, "support_phone": phone}).text.splitlines()
    assert (contact in lines) if contact else not any("Questions" in line for line in lines)


@pytest.mark.long
@pytest.mark.django_db
def test_no_card_number_is_kept_of_a_message(shop: NewMerchant, server: Server) -> None:
    message = put_into_outbox(captured(shop.merchant, description="Card 4242 4242 4242 4242"))
    send_due()
    message.refresh_from_db()
    assert "4242 4242" not in message.text
