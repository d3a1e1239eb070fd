from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.urls import reverse

from tests.admin.conftest import text_of
from tests.staff.sign_in import (
    ADD_PASSKEY,
    ENROL,
    FACTORS,
    INDEX,
    LOGIN,
    RECOVERY_CODES,
    Visitor,
    app_of,
    code_at,
    code_of,
    key_of,
    shown_key,
    wrong_code_at,
)

REMOVE_APP = reverse("mfa_deactivate_totp")


def enrol(visitor: Visitor, code: str) -> Any:
    return visitor.post(ENROL, {"code": code}, follow=True)


def let_pass_ten_minutes(visitor: Visitor) -> None:
    """Age what the visitor has proved."""
    session = visitor.session
    for record in session["account_authentication_methods"]:
        record["at"] -= 601
    session.save()


def test_the_first_time_leads_to_enrolment(ana: User, visitor: Visitor) -> None:
    answer = visitor.give_password()
    assert answer.request["PATH_INFO"] == ENROL
    assert not visitor.is_in()


def test_before_enrolment_no_other_page_is_there(ana: User, visitor: Visitor) -> None:
    visitor.give_password()
    for name in ("mfa_index", "account_change_password", "usersessions_list", "mfa_generate_recovery_codes"):
        assert visitor.get(reverse(name))["Location"] == ENROL, name


@pytest.mark.django_db(transaction=True)
def test_the_code_of_the_new_app_lets_in_and_leads_to_recovery_codes(ana: User, visitor: Visitor) -> None:
    key = shown_key(text_of(visitor.give_password()))
    answer = enrol(visitor, code_at(key))
    assert answer.request["PATH_INFO"] == RECOVERY_CODES
    assert key_of(Authenticator.objects.get(type="totp")) == key
    assert visitor.is_in()


@pytest.mark.django_db(transaction=True)
def test_enrolment_begins_a_new_session(ana: User, visitor: Visitor) -> None:
    key = shown_key(text_of(visitor.give_password()))
    before = visitor.session.session_key
    enrol(visitor, code_at(key))
    assert visitor.session.session_key != before


def test_the_code_of_the_enrolment_does_not_sign_in_again(ana: User, visitor: Visitor) -> None:
    key = shown_key(text_of(visitor.give_password()))
    code, other = code_at(key), Visitor()
    enrol(visitor, code)
    other.give_password()
    other.give_code(code)
    assert not other.is_in()


def test_a_wrong_code_enrols_nothing(ana: User, visitor: Visitor) -> None:
    shown = shown_key(text_of(visitor.give_password()))
    answer = enrol(visitor, wrong_code_at(shown))
    assert "That code is not right" in text_of(answer)
    assert shown_key(text_of(answer)) == shown
    assert not Authenticator.objects.exists()
    assert not visitor.is_in()


def test_a_key_that_another_session_was_shown_is_not_shown_again(ana: User, visitor: Visitor) -> None:
    before = shown_key(text_of(Visitor().give_password()))
    assert shown_key(text_of(visitor.give_password())) != before


def test_the_password_alone_adds_no_second_factor(ana: User, visitor: Visitor) -> None:
    app = app_of(ana)
    visitor.give_password()
    for address in (ENROL, ADD_PASSKEY):
        for answer in (visitor.get(address), visitor.post(address, {"code": code_of(app)})):
            assert (answer.status_code, answer["Location"].partition("?")[0]) == (302, LOGIN)
    assert Authenticator.objects.get() == app


def test_a_session_whose_factor_was_taken_away_enrols_none(ana: User, visitor: Visitor) -> None:
    visitor.sign_in(ana)
    let_pass_ten_minutes(visitor)
    Authenticator.objects.all().delete()
    assert visitor.get(ENROL)["Location"] == LOGIN


def test_a_change_of_the_factors_takes_the_password_again(ana: User, visitor: Visitor) -> None:
    visitor.sign_in(ana)
    let_pass_ten_minutes(visitor)
    assert "Your password again" in text_of(visitor.get(ADD_PASSKEY, follow=True))
    visitor.confirm()
    assert "New passkey" in text_of(visitor.get(ADD_PASSKEY))


def test_the_last_factor_cannot_be_removed(ana: User, visitor: Visitor) -> None:
    visitor.sign_in(ana)
    app = Authenticator.objects.get()
    assert "Remove" not in text_of(visitor.get(FACTORS))
    visitor.post(REMOVE_APP)
    assert Authenticator.objects.get() == app


def test_a_passkey_of_somebody_else_cannot_be_removed(ana: User, visitor: Visitor) -> None:
    ben = User.objects.create_superuser("ben")
    passkey = Authenticator.objects.create(user=ben, type="webauthn", data={"name": "P"})
    visitor.sign_in(ana)
    visitor.post(reverse("mfa_remove_webauthn", args=[passkey.pk]))
    assert Authenticator.objects.filter(pk=passkey.pk).exists()


def test_where_the_password_is_enough_no_second_factor_is_spoken_of(settings, ana: User, visitor: Visitor) -> None:
    visitor.sign_in(ana)
    assert FACTORS in text_of(visitor.get(INDEX))
    settings.ADMIN_MFA = False
    assert FACTORS not in text_of(visitor.get(INDEX))
