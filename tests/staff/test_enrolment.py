import base64
from typing import Any

from django.contrib.auth.models import User
from django_otp.oath import TOTP

from payments.staff.models import Authenticator
from tests.admin.conftest import text_of
from tests.staff.sign_in import (
    ENROL,
    FACTORS,
    INDEX,
    LOGIN,
    RECOVERY_CODES,
    Visitor,
    app_of,
    code_of,
    renewed_codes_of,
    shown_key,
    wrong_code_of,
)


def offered(visitor: Visitor) -> Authenticator:
    return Authenticator.objects.get(confirmed=False)


def enrol(visitor: Visitor, code: str) -> Any:
    return visitor.post(ENROL, {"code": code}, follow=True)


def test_the_first_time_leads_to_enrolment(ana: User, visitor: Visitor) -> None:
    answer = visitor.give_password()
    assert answer.request["PATH_INFO"] == ENROL
    assert not visitor.is_in()


def test_the_key_that_is_shown_makes_the_codes_that_count(ana: User, visitor: Visitor) -> None:
    key = shown_key(text_of(visitor.give_password())).replace(" ", "")
    assert base64.b32decode(key) == offered(visitor).bin_key
    assert TOTP(base64.b32decode(key)).token() == TOTP(offered(visitor).bin_key).token()


def test_the_code_of_the_new_app_lets_in_and_leads_to_recovery_codes(ana: User, visitor: Visitor) -> None:
    visitor.give_password()
    answer = enrol(visitor, code_of(offered(visitor)))
    assert answer.request["PATH_INFO"] == RECOVERY_CODES
    assert visitor.is_in()


def test_a_wrong_code_enrols_nothing(ana: User, visitor: Visitor) -> None:
    shown = shown_key(text_of(visitor.give_password()))
    answer = enrol(visitor, wrong_code_of(offered(visitor)))
    assert "That code is not right" in text_of(answer)
    assert shown_key(text_of(answer)) == shown
    assert not Authenticator.objects.filter(confirmed=True).exists()
    assert not visitor.is_in()


def test_a_key_that_another_session_was_shown_is_not_shown_again(ana: User, visitor: Visitor) -> None:
    before = shown_key(text_of(Visitor().give_password()))
    assert shown_key(text_of(visitor.give_password())) != before
    assert Authenticator.objects.count() == 1


def test_the_password_alone_adds_no_second_app(ana: User, visitor: Visitor) -> None:
    app = app_of(ana)
    visitor.give_password()
    for answer in (visitor.get(ENROL), visitor.post(ENROL, {"code": code_of(app)})):
        assert (answer.status_code, answer["Location"]) == (302, LOGIN)
    assert Authenticator.objects.get() == app


def test_a_recovery_code_that_is_left_stands_before_enrolment(ana: User, visitor: Visitor) -> None:
    renewed_codes_of(ana)
    assert visitor.give_password().request["PATH_INFO"] != ENROL


def test_another_app_takes_the_place_of_the_first(ana: User, visitor: Visitor) -> None:
    visitor.sign_in(ana)
    before = Authenticator.objects.get()
    visitor.get(ENROL)
    enrol(visitor, code_of(offered(visitor)))
    assert Authenticator.objects.get().key != before.key


def test_the_last_factor_cannot_be_removed(ana: User, visitor: Visitor) -> None:
    visitor.sign_in(ana)
    app = Authenticator.objects.get()
    assert "Remove" not in text_of(visitor.get(FACTORS))
    visitor.post(FACTORS, {"remove": app.persistent_id})
    assert Authenticator.objects.get() == app


def test_a_factor_of_somebody_else_cannot_be_removed(ana: User, visitor: Visitor) -> None:
    other = app_of(User.objects.create_superuser("ben"))
    visitor.sign_in(ana)
    visitor.post(FACTORS, {"remove": other.persistent_id})
    assert Authenticator.objects.filter(pk=other.pk).exists()


def test_where_the_password_is_enough_no_second_factor_is_spoken_of(settings, ana: User, visitor: Visitor) -> None:
    visitor.sign_in(ana)
    assert FACTORS in text_of(visitor.get(INDEX))
    settings.ADMIN_MFA = False
    assert FACTORS not in text_of(visitor.get(INDEX))
