"""A forgotten password: a link by mail, where there is a mail server."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.mail import EmailMessage
from django.urls import reverse
from pytest_django.fixtures import Settings

from tests.admin.conftest import text_of
from tests.staff.sign_in import LOGIN, PASSWORD, Visitor

RESET = reverse("account_reset_password")
NEW = dict.fromkeys(("password1", "password2"), "jeepney-88-taho")


class AtOnce:
    """A sender in the test's own thread, which sees what the test has not committed."""

    def submit(self, send: Callable[..., Any], *arguments: Any) -> None:
        send(*arguments)


@pytest.fixture(autouse=True)
def _with_a_mail_server(settings: Settings, ana: User, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.EMAIL_HOST = "mail.example"
    monkeypatch.setattr("payments.staff.sign_in.forms.SENDER", AtOnce())
    ana.email = "ana@example.com"
    ana.save()


def link_for(visitor: Visitor) -> str:
    """Return the path of the form to which the link by mail leads."""
    visitor.post(RESET, {"email": "ana@example.com"})
    message: EmailMessage = mail.outbox[-1]
    [link] = re.findall(r"/admin/password-reset/\S+", str(message.body))
    return str(visitor.get(link)["Location"])


def test_the_link_is_at_our_host_whatever_the_request_says(settings: Settings, ana: User, visitor: Visitor) -> None:
    settings.ALLOWED_HOSTS = ["pay.example.com", "other.example"]
    settings.ADMIN_ORIGIN = "https://pay.example.com"
    visitor.post(RESET, {"email": "ana@example.com"}, headers={"Host": "other.example"})
    assert "https://pay.example.com/admin/password-reset/" in str(mail.outbox[-1].body)
    assert "other.example" not in str(mail.outbox[-1].body)


def test_the_link_sets_a_password_once(ana: User, visitor: Visitor) -> None:
    link = link_for(visitor)
    visitor.post(link, NEW)
    ana.refresh_from_db()
    assert ana.check_password(NEW["password1"])
    assert "does not work" in text_of(visitor.get(link))


def test_a_new_password_lets_nobody_past_the_second_factor(ana: User, visitor: Visitor) -> None:
    visitor.post(link_for(visitor), NEW)
    assert not visitor.is_in()


def test_an_unknown_address_is_answered_alike_and_gets_no_mail(ana: User) -> None:
    known, unknown = (
        Visitor().post(RESET, {"email": f"{name}@example.com"}, follow=True) for name in ("ana", "nobody")
    )
    assert re.sub(r'value="\w+"', "", text_of(known)) == re.sub(r'value="\w+"', "", text_of(unknown))
    assert len(mail.outbox) == 1


def test_an_address_that_upper_case_makes_the_same_gets_no_link(ana: User, visitor: Visitor) -> None:
    ana.email = "ana@vict.example"
    ana.save()
    for typed in ("ana@v\u0131ct.example", "ana@VICT.example"):
        visitor.post(RESET, {"email": typed})
    assert [message.to for message in mail.outbox] == [["ana@vict.example"]]


def test_who_was_never_invited_gets_no_link(ana: User, visitor: Visitor) -> None:
    ana.set_unusable_password()
    ana.save()
    visitor.post(RESET, {"email": "ana@example.com"})
    assert mail.outbox == []


def test_without_a_mail_server_there_is_no_such_page(settings: Settings, ana: User, visitor: Visitor) -> None:
    assert RESET in text_of(visitor.get(LOGIN))
    settings.EMAIL_HOST = ""
    assert RESET not in text_of(visitor.get(LOGIN))
    assert visitor.post(RESET, {"email": "ana@example.com"}).status_code == 404
    assert User(password=ana.password).check_password(PASSWORD)
