from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_out
from django.contrib.sessions.models import Session
from django.db.models import F

from payments import clock
from payments.staff.models import SignInFailures
from payments.staff.sign_in.lockout import key_of
from payments.tasks import run_sweep
from tests.admin.conftest import text_of
from tests.staff.sign_in import INDEX, LOGIN, Visitor, app_of, code_of

SESSIONS = "/admin/sessions/"


def let_pass(**time: float) -> None:
    """Age every session by this time."""
    Session.objects.update(expire_date=F("expire_date") - timedelta(**time))


def test_sessions_and_failures_that_are_over_are_deleted(ana: User, visitor: Visitor) -> None:
    Visitor().force_login(ana)
    let_pass(hours=1)
    visitor.force_login(ana)
    Visitor().give_password("ana", "wrong")
    with clock.at(clock.now() - timedelta(days=2)):
        Visitor().give_password("ben", "wrong")
    run_sweep("clear_sessions")
    assert SignInFailures.objects.filter(key=key_of("name", "ben")).count() == 0
    assert [session.session_key for session in Session.objects.all()] == [visitor.session.session_key]


def sign_in_ago(visitor: Visitor, **time: float) -> None:
    """Sign the visitor in this long ago, without idle time since."""
    session = visitor.session
    session["signed_in_at"] -= timedelta(**time).total_seconds()
    session.save()


def test_fifteen_minutes_without_a_request_sign_out(ana: User, visitor: Visitor) -> None:
    visitor.sign_in(ana)
    let_pass(minutes=15)
    assert not visitor.is_in()


@pytest.mark.long
def test_a_request_begins_the_fifteen_minutes_anew(ana: User, visitor: Visitor) -> None:
    visitor.sign_in(ana)
    for _ in range(3):
        let_pass(minutes=14)
        assert visitor.is_in()


def test_a_request_to_the_api_does_not(ana: User, visitor: Visitor) -> None:
    visitor.sign_in(ana)
    let_pass(minutes=14)
    visitor.get("/v2/ping")
    let_pass(minutes=1)
    assert not visitor.is_in()


def test_after_twelve_hours_one_signs_in_again_however_busy(ana: User, visitor: Visitor) -> None:
    visitor.sign_in(ana)
    sign_in_ago(visitor, hours=11, minutes=59)
    assert visitor.is_in()
    sign_in_ago(visitor, minutes=2)
    answer = visitor.get(INDEX)
    assert answer["Location"].startswith(LOGIN)
    assert "you were signed in for 12 hours" in text_of(visitor.get(answer["Location"]))
    assert not visitor.is_in()


def test_a_session_that_does_not_say_since_when_is_over(ana: User, visitor: Visitor) -> None:
    visitor.sign_in(ana)
    session = visitor.session
    del session["signed_in_at"]
    session.save()
    assert not visitor.is_in()


def test_such_a_sign_out_sends_the_signal(ana: User, visitor: Visitor) -> None:
    received: list[str] = []

    def receive(sender: object, user: User, **_: object) -> None:
        received.append(user.username)

    visitor.sign_in(ana)
    sign_in_ago(visitor, hours=13)
    user_logged_out.connect(receive)
    visitor.get(INDEX)
    user_logged_out.disconnect(receive)
    assert received == ["ana"]


def test_who_signs_out_is_out_everywhere_that_has_the_cookie(ana: User, visitor: Visitor) -> None:
    visitor.sign_in(ana)
    copy = Visitor()
    copy.cookies[settings.SESSION_COOKIE_NAME] = visitor.cookies[settings.SESSION_COOKIE_NAME].value
    assert copy.is_in()
    visitor.post("/admin/logout/")
    assert not copy.is_in()


@pytest.mark.long
def test_a_new_password_signs_out_everywhere_else(ana: User, visitor: Visitor) -> None:
    visitor.sign_in(ana)
    other = Visitor()
    other.give_password()
    other.give_code(code_of(app_of(ana), steps_ahead=1))
    assert other.is_in()
    new = {"oldpassword": "kalesa-77-halo-halo", "password1": "jeepney-88-taho", "password2": "jeepney-88-taho"}
    visitor.post("/admin/password_change/", new)
    assert (visitor.is_in(), other.is_in()) == (True, False)


def test_the_cookie_is_gone_with_the_browser(ana: User, visitor: Visitor) -> None:
    visitor.sign_in(ana)
    assert visitor.cookies[settings.SESSION_COOKIE_NAME]["max-age"] == ""


@pytest.mark.long
def test_an_operator_sees_and_ends_their_other_sessions(ana: User, visitor: Visitor) -> None:
    visitor.sign_in(ana)
    other = Visitor()
    other.give_password()
    other.give_code(code_of(app_of(ana), steps_ahead=1), **{"User-Agent": "Left at the office"})
    assert "Left at the office" in text_of(visitor.get(SESSIONS))
    visitor.post(SESSIONS)
    assert (visitor.is_in(), other.is_in()) == (True, False)
