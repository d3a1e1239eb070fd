import re

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.db import connection

from tests.admin.conftest import text_of
from tests.concurrency import at_once
from tests.staff.sign_in import FACTORS, NEW_CODES, RECOVERY_CODES, Visitor, renewed_codes_of


def codes_in(text: str) -> list[str]:
    return re.findall(r"<li><code>([0-9]{8})</code></li>", text)


def come_in(code: str) -> Visitor:
    visitor = Visitor()
    visitor.give_password()
    visitor.give_code(code)
    return visitor


def shown_to(visitor: Visitor) -> list[str]:
    """Return the new codes that a signed-in visitor asks for."""
    return codes_in(text_of(visitor.post(NEW_CODES, follow=True)))


def test_ten_codes_are_shown_once(ana: User, visitor: Visitor) -> None:
    visitor.sign_in(ana)
    assert len(set(shown_to(visitor))) == 10
    assert codes_in(text_of(visitor.get(RECOVERY_CODES))) == []


def test_a_shown_code_lets_in_once(ana: User, visitor: Visitor) -> None:
    visitor.sign_in(ana)
    code = shown_to(visitor)[3]
    assert come_in(code).is_in()
    assert not come_in(code).is_in()


def test_codes_go_with_the_last_factor(ana: User) -> None:
    renewed_codes_of(ana)
    Authenticator.objects.get(type="totp").delete()
    assert not Authenticator.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_one_code_twice_at_once_one_lets_in(ana: User) -> None:
    code = renewed_codes_of(ana)[0]
    visitors = at_once(2, lambda _: come_in(code))
    assert sorted(visitor.is_in() for visitor in visitors) == [False, True]


def test_the_page_of_the_factors_says_how_many_are_left(ana: User) -> None:
    visitor = come_in(renewed_codes_of(ana)[0])
    assert "Recovery codes, 9 left" in text_of(visitor.get(FACTORS))


def test_new_codes_take_the_place_of_old_ones(ana: User) -> None:
    old = renewed_codes_of(ana)[0]
    new = renewed_codes_of(ana)[0]
    assert not come_in(old).is_in()
    assert come_in(new).is_in()


def test_the_database_does_not_have_a_code(ana: User) -> None:
    codes = renewed_codes_of(ana)
    with connection.cursor() as cursor:
        cursor.execute("SELECT data::text FROM mfa_authenticator")
        stored = str(cursor.fetchall())
    assert not any(code in stored for code in codes)
