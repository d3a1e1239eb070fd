import re

import pytest
from django.contrib.auth.models import User
from django.db import connection

from tests.admin.conftest import text_of
from tests.concurrency import at_once
from tests.staff.sign_in import FACTORS, RECOVERY_CODES, Visitor, app_of, renewed_codes_of


def codes_in(text: str) -> list[str]:
    return re.findall(r"<li><code>([0-9a-f]+)</code></li>", text)


def come_in(code: str) -> Visitor:
    visitor = Visitor()
    visitor.give_password()
    visitor.give_code(code)
    return visitor


def test_ten_codes_are_shown_in_answer_to_a_post_and_never_again(ana: User, visitor: Visitor) -> None:
    visitor.sign_in(ana)
    assert codes_in(text_of(visitor.get(RECOVERY_CODES))) == []
    assert len(set(codes_in(text_of(visitor.post(RECOVERY_CODES))))) == 10
    assert codes_in(text_of(visitor.get(RECOVERY_CODES))) == []


def test_a_shown_code_lets_in_once(ana: User, visitor: Visitor) -> None:
    visitor.sign_in(ana)
    code = codes_in(text_of(visitor.post(RECOVERY_CODES)))[3]
    assert come_in(code).is_in()
    assert not come_in(code).is_in()


@pytest.mark.django_db(transaction=True)
def test_of_one_code_twice_at_once_one_lets_in(ana: User) -> None:
    code = renewed_codes_of(ana)[0]
    visitors = at_once(2, lambda _: come_in(code))
    assert sorted(visitor.is_in() for visitor in visitors) == [False, True]


def test_a_sign_in_by_a_recovery_code_says_how_many_are_left(ana: User, visitor: Visitor) -> None:
    app_of(ana)
    code = renewed_codes_of(ana)[0]
    visitor.give_password()
    answer = visitor.post("/admin/second-factor/", {"code": code.upper()}, follow=True)
    assert answer.request["PATH_INFO"] == FACTORS
    assert "9 are left" in text_of(answer)


def test_new_codes_take_the_place_of_old_ones(ana: User) -> None:
    old = renewed_codes_of(ana)[0]
    new = renewed_codes_of(ana)[0]
    assert not come_in(old).is_in()
    assert come_in(new).is_in()


def test_the_database_does_not_have_a_code(ana: User) -> None:
    codes = renewed_codes_of(ana)
    with connection.cursor() as cursor:
        cursor.execute("SELECT token FROM otp_static_statictoken")
        stored = {token for (token,) in cursor.fetchall()}
    assert len(stored) == 10
    assert not any(code in token or token in code for code in codes for token in stored)
