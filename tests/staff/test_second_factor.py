import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.models import Session
from django.db import connection

from tests.admin.conftest import text_of
from tests.concurrency import at_once
from tests.staff.sign_in import (
    ENROL,
    FACTORS,
    INDEX,
    LOGIN,
    NEW_CODES,
    PASSWORD,
    RECOVERY_CODES,
    SECOND_FACTOR,
    Visitor,
    app_of,
    code_of,
    key_of,
    renewed_codes_of,
    shown_key,
    wrong_code_of,
)

PERSONAL = [ENROL, SECOND_FACTOR, RECOVERY_CODES, NEW_CODES, FACTORS]


def test_the_password_alone_lets_nobody_in(ana: User, visitor: Visitor) -> None:
    app_of(ana)
    assert "Code of your authenticator app" in text_of(visitor.give_password())
    assert not visitor.is_in()


def test_password_and_code_let_in(ana: User, visitor: Visitor) -> None:
    visitor.sign_in(ana)
    assert visitor.is_in()


def test_a_code_is_taken_as_people_type_it(ana: User, visitor: Visitor) -> None:
    code = code_of(app_of(ana))
    visitor.give_password()
    visitor.give_code(f" {code[:3]}-{code[3:]} ")
    assert visitor.is_in()


def test_a_wrong_code_is_an_error_and_signs_nobody_in(ana: User, visitor: Visitor) -> None:
    app = app_of(ana)
    visitor.give_password()
    assert "That code is not right" in text_of(visitor.give_code(wrong_code_of(app)))
    assert not visitor.is_in()


def test_a_code_works_once(ana: User, visitor: Visitor) -> None:
    code = code_of(app_of(ana))
    visitor.give_password()
    visitor.give_code(code)
    other = Visitor()
    other.give_password()
    other.give_code(code)
    assert not other.is_in()


@pytest.mark.django_db(transaction=True)
def test_of_one_code_twice_at_once_one_lets_in(ana: User) -> None:
    code = code_of(app_of(ana))
    visitors = [Visitor(), Visitor()]
    for visitor in visitors:
        visitor.give_password()
    at_once(2, lambda number: visitors[number].give_code(code))
    assert sorted(visitor.is_in() for visitor in visitors) == [False, True]


def test_the_code_of_somebody_else_lets_nobody_in(ana: User, visitor: Visitor) -> None:
    app_of(ana)
    ben = User.objects.create_superuser("ben")
    visitor.give_password()
    visitor.give_code(code_of(app_of(ben)))
    visitor.give_code(renewed_codes_of(ben)[0])
    assert not visitor.is_in()


def test_a_code_without_the_password_lets_nobody_in(ana: User, visitor: Visitor) -> None:
    answer = visitor.give_code(code_of(app_of(ana)))
    assert (answer.status_code, answer["Location"]) == (302, LOGIN)
    assert not visitor.is_in()


@pytest.mark.parametrize(("minutes", "waits"), [(9, True), (11, False)])
def test_a_password_waits_ten_minutes_for_its_code(ana: User, visitor: Visitor, minutes: int, waits: bool) -> None:
    app = app_of(ana)
    visitor.give_password()
    session = visitor.session
    session["account_login"]["initiated_at"] -= minutes * 60
    session.save()
    visitor.give_code(code_of(app))
    assert visitor.is_in() is waits


@pytest.mark.parametrize("field", ["is_active", "is_staff"])
def test_who_was_sent_away_meanwhile_does_not_come_in(field: str, ana: User, visitor: Visitor) -> None:
    app = app_of(ana)
    visitor.give_password()
    User.objects.update(**{field: False})
    visitor.give_code(code_of(app))
    assert not visitor.is_in()


def test_each_step_has_a_session_of_its_own(ana: User, visitor: Visitor) -> None:
    app = app_of(ana)
    visitor.get(LOGIN)
    before = visitor.session.session_key
    visitor.give_password()
    between = visitor.session.session_key
    visitor.give_code(code_of(app))
    assert len({before, between, visitor.session.session_key}) == 3
    assert not Session.objects.filter(pk=between).exists()


def test_the_way_leads_where_one_wanted_to_go(ana: User, visitor: Visitor) -> None:
    app = app_of(ana)
    asked = visitor.get(f"{LOGIN}?next=/admin/payments/charge/")
    form = {"login": ana.username, "password": PASSWORD, "next": "/admin/payments/charge/"}
    second = visitor.post(asked.request["PATH_INFO"], form)
    answer = visitor.post(second["Location"], {"code": code_of(app)})
    assert answer["Location"] == "/admin/payments/charge/"


ELSEWHERE = ("https://evil.example/", "//evil.example/", "javascript:alert(1)", "/\t///evil.example", "/\\evil.example")


@pytest.mark.parametrize("page", ["preferences", "mode"])
@pytest.mark.parametrize("elsewhere", ELSEWHERE)
def test_no_page_of_an_operator_leads_elsewhere(page: str, elsewhere: str, ana: User, visitor: Visitor) -> None:
    visitor.sign_in(ana)
    answer = visitor.post(f"/admin/{page}/", {"time_zone": "", "mode": "test", "next": elsewhere})
    assert answer["Location"] == INDEX


@pytest.mark.parametrize("path", ["/admin/r/1/1/", "/admin/r/x/y/", "/merchant/r/1/1/"])
def test_no_page_leads_from_any_row_to_its_page(path: str, ana: User, visitor: Visitor) -> None:
    visitor.sign_in(ana)
    assert visitor.get(path).status_code in (302, 404)


@pytest.mark.parametrize("elsewhere", ELSEWHERE)
def test_the_way_never_leads_elsewhere(elsewhere: str, ana: User, visitor: Visitor) -> None:
    app = app_of(ana)
    visitor.post(LOGIN, {"login": "ana", "password": PASSWORD, "next": elsewhere})
    answer = visitor.post(f"{SECOND_FACTOR}?next={elsewhere}", {"code": code_of(app), "next": elsewhere})
    assert answer["Location"] == INDEX


def test_a_sign_in_sends_one_signal_at_its_end(ana: User, visitor: Visitor) -> None:
    received: list[str] = []

    def receive(sender: object, user: User, **_: object) -> None:
        received.append(user.username)

    user_logged_in.connect(receive)
    app = app_of(ana)
    visitor.give_password()
    assert received == []
    visitor.give_code(code_of(app))
    user_logged_in.disconnect(receive)
    assert received == ["ana"]


def test_without_the_setting_the_password_is_enough(settings, ana: User, visitor: Visitor) -> None:
    settings.ADMIN_MFA = False
    app_of(ana)
    visitor.give_password()
    assert visitor.is_in()


def test_who_signed_in_without_a_second_factor_is_out_once_it_is_asked_for(
    settings, ana: User, visitor: Visitor
) -> None:
    settings.ADMIN_MFA = False
    visitor.give_password()
    settings.ADMIN_MFA = True
    assert not visitor.is_in()


def test_whose_device_is_taken_away_is_out(ana: User, visitor: Visitor) -> None:
    visitor.sign_in(ana)
    Authenticator.objects.all().delete()
    assert not visitor.is_in()


@pytest.mark.parametrize("address", PERSONAL)
def test_an_anonymous_visitor_is_sent_to_the_login(address: str, visitor: Visitor, db: None) -> None:
    for answer in (visitor.get(address), visitor.post(address, {"code": "123456"})):
        assert (answer.status_code, answer["Location"].partition("?")[0]) == (302, LOGIN)


def test_no_page_of_these_is_kept_by_a_browser(ana: User, visitor: Visitor) -> None:
    app_of(ana)
    visitor.give_password()
    assert "no-store" in visitor.get(SECOND_FACTOR)["Cache-Control"]


def test_the_database_does_not_have_the_key_of_an_app(ana: User) -> None:
    app = app_of(ana)
    with connection.cursor() as cursor:
        cursor.execute("SELECT data::text FROM mfa_authenticator")
        [(stored,)] = cursor.fetchall()
    assert key_of(app) not in stored


def test_the_session_does_not_have_the_key_that_is_offered(ana: User, visitor: Visitor) -> None:
    key = shown_key(text_of(visitor.give_password()))
    assert key not in str([session.get_decoded() for session in Session.objects.all()])
