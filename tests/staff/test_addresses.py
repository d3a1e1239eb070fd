"""One's own e-mail address: changed by a link that was sent to the new one."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from payments.domain.merchants.merchants import NewMerchant
from payments.models import AuditEntry
from payments.staff.sign_in.addresses import folded
from tests.admin.conftest import text_of
from tests.merchant_site.conftest import member
from tests.staff.sign_in import CONFIRM, PASSWORD, SECOND_FACTOR, Visitor
from tests.staff.test_enrolment import let_pass_ten_minutes
from tests.staff.test_password_reset import RESET, AtOnce

ADDRESS = reverse("account_email")
BEFORE, NEW = "ana@example.com", "Ana.Cruz@example.com"


@pytest.fixture(autouse=True)
def _with_a_mail_server(settings: Settings, monkeypatch: pytest.MonkeyPatch, ana: User) -> None:
    settings.EMAIL_HOST = "mail.example"
    monkeypatch.setattr("payments.staff.sign_in.forms.SENDER", AtOnce())
    ana.email = BEFORE
    ana.save()


@pytest.fixture
def visitor(ana: User) -> Visitor:
    visitor = Visitor()
    visitor.sign_in(ana)
    return visitor


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        (" Ana.Cruz@Example.COM ", "ana.cruz@example.com"),
        ("a@v\u0131ct.example", "a@xn--vct-jua.example"),
        ("\u0131\u017f\u212a@x.example", "\u0131\u017f\u212a@x.example"),
        ("a@" + 63 * "\u00f1", "a@" + 63 * "\u00f1"),
    ],
)
def test_addresses_have_one_form_and_no_letter_becomes_another(typed: str, stored: str) -> None:
    assert folded(typed) == stored


def link_of(visitor: Visitor, email: str = NEW) -> str:
    """Ask for an address; return the path of the page to which the link leads."""
    visitor.post(ADDRESS, {"email": email})
    [link] = re.findall(r"/admin/address/\S+", str(mail.outbox[-1].body))
    return str(link)


def address_of(user: User) -> str:
    return User.objects.get(pk=user.pk).email


def test_an_address_counts_once_it_is_confirmed_and_the_one_before_gets_a_note(ana: User, visitor: Visitor) -> None:
    link = link_of(visitor)
    assert (mail.outbox[-1].to, address_of(ana)) == ([NEW.lower()], BEFORE)
    assert NEW.lower() in text_of(visitor.get(ADDRESS))
    assert "Use this address" in text_of(visitor.get(link))
    answer = visitor.post(link, follow=True)
    assert f"Your address is {NEW.lower()} now. You sign in as ana." in text_of(answer)
    assert address_of(ana) == NEW.lower()
    assert (mail.outbox[-1].to, NEW.lower() in str(mail.outbox[-1].body)) == ([BEFORE], True)
    assert AuditEntry.objects.about(ana).latest("id").fields == ["email"]
    assert visitor.post(link).status_code == 404


def test_a_sign_in_name_made_of_the_address_follows_it(ana: User, visitor: Visitor) -> None:
    User.objects.filter(pk=ana.pk).update(username=BEFORE)
    visitor.post(link_of(visitor))
    assert Visitor().give_password(NEW.lower()).request["PATH_INFO"] == SECOND_FACTOR
    assert visitor.is_in()


def test_the_link_is_for_nobody_else_and_for_nobody_who_is_not_signed_in(ana: User, visitor: Visitor) -> None:
    link, other = link_of(visitor), User.objects.create_superuser("ben", password=PASSWORD)
    assert Visitor().post(link)["Location"].startswith(reverse("account_login"))
    bens = Visitor()
    bens.sign_in(other)
    assert "does not work" in text_of(bens.get(link))
    assert bens.post(link).status_code == 404
    assert {address_of(ana), address_of(other)} == {BEFORE, ""}


def test_nobody_asks_without_a_password_of_the_last_ten_minutes(visitor: Visitor) -> None:
    let_pass_ten_minutes(visitor)
    assert visitor.post(ADDRESS, {"email": NEW})["Location"].startswith(CONFIRM)
    assert mail.outbox == []


def test_a_taken_address_is_said_to_who_reads_its_mail_alone(ana: User, visitor: Visitor) -> None:
    User.objects.create_superuser("ben", email=NEW.lower())
    answers = [
        text_of(visitor.post(ADDRESS, {"email": email}, follow=True)).replace(email.lower(), "ADDRESS")
        for email in (NEW, "nobody@example.com")
    ]
    assert "A link is on its way to ADDRESS" in answers[0]
    varies = r'value="\w{64}"|waiting \d+ s'
    assert re.sub(varies, "", answers[0]) == re.sub(varies, "", answers[1])


def test_a_taken_address_is_not_given_twice(ana: User, visitor: Visitor) -> None:
    link = link_of(visitor)
    User.objects.create_superuser("ben", email=NEW.lower())
    assert "Another account has this address" in text_of(visitor.post(link, follow=True))
    assert address_of(ana) == BEFORE


def test_an_address_that_was_not_confirmed_gets_no_link_for_a_password(visitor: Visitor) -> None:
    link_of(visitor)
    Visitor().post(RESET, {"email": NEW})
    assert len(mail.outbox) == 1


def test_an_address_asked_for_later_takes_the_place_of_the_first(ana: User, visitor: Visitor) -> None:
    first = link_of(visitor)
    second = link_of(visitor, "other@example.com")
    assert visitor.post(first).status_code == 404
    visitor.post(second)
    assert address_of(ana) == "other@example.com"


def test_only_so_many_are_asked_for(visitor: Visitor) -> None:
    answers = [visitor.post(ADDRESS, {"email": f"{number}@example.com"}).status_code for number in range(7)]
    assert answers == [*[302] * 5, 429, 429]


def test_a_mail_server_that_is_away_is_said(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError

    monkeypatch.setattr("django.core.mail.EmailMessage.send", refuse)
    assert "did not take the message" in text_of(visitor.post(ADDRESS, {"email": NEW}))


def test_without_a_mail_server_the_page_says_so(settings: Settings, ana: User, visitor: Visitor) -> None:
    settings.EMAIL_HOST = ""
    assert "no mail server" in text_of(visitor.post(ADDRESS, {"email": NEW}))
    assert mail.outbox == []


def test_a_merchants_person_changes_theirs_on_their_own_site(settings: Settings, shop: NewMerchant) -> None:
    settings.ADMIN_MFA = False
    sol = member(shop.merchant, name=BEFORE)
    sol.email = BEFORE
    sol.set_password(PASSWORD)
    sol.save()
    client = Client()
    client.post("/merchant/login/", {"login": BEFORE, "password": PASSWORD})
    client.post("/merchant/address/", {"email": NEW})
    [link] = re.findall(r"/merchant/address/\S+", str(mail.outbox[-1].body))
    assert f"You sign in as {NEW.lower()}" in text_of(client.post(link, follow=True))
