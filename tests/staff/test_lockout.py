from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from payments import clock
from payments.staff.models import SignInFailures
from payments.staff.sign_in.lockout import key_of
from tests.concurrency import at_once
from tests.staff.sign_in import PASSWORD, Visitor, app_of, code_of, wrong_code_of

pytestmark = pytest.mark.long

LIMIT = 10


@pytest.fixture(autouse=True)
def _as_a_proxy_says(settings: Any) -> None:
    settings.TRUSTED_PROXIES = 1


def coming_from(address: str) -> dict[str, str]:
    return {"X-Forwarded-For": address}


def fail(times: int, name: str = "ana", address: str = "198.51.100.7") -> Any:
    """Return the last answer to so many wrong passwords."""
    answers = [Visitor().give_password(name, "wrong", **coming_from(address)) for _ in range(times)]
    return answers[-1]


def gets_past_the_password(name: str = "ana", address: str = "198.51.100.7") -> bool:
    return Visitor().give_password(name, **coming_from(address)).status_code == 200


def test_nine_failures_lock_nobody_out(ana: User) -> None:
    assert fail(LIMIT - 1).status_code == 200
    assert gets_past_the_password()


def test_the_tenth_failure_locks_the_user_out_from_everywhere(ana: User) -> None:
    answer = fail(LIMIT)
    assert (answer.status_code, answer["Retry-After"]) == (429, "1800")
    assert not gets_past_the_password()
    assert not gets_past_the_password(address="203.0.113.9")


def test_failures_from_many_addresses_add_up_for_their_user(ana: User) -> None:
    for number in range(LIMIT):
        fail(1, address=f"198.51.100.{number}")
    assert not gets_past_the_password(address="203.0.113.9")


def test_failures_with_many_names_add_up_for_their_address(ana: User) -> None:
    for number in range(LIMIT):
        fail(1, name=f"guess{number}")
    assert not gets_past_the_password()
    assert gets_past_the_password(address="203.0.113.9")


def test_another_user_elsewhere_is_not_locked_out(ana: User) -> None:
    User.objects.create_superuser("ben", password=PASSWORD)
    fail(LIMIT)
    assert gets_past_the_password("ben", "203.0.113.9")


def test_the_address_is_not_what_the_visitor_says_it_is(ana: User) -> None:
    for number in range(LIMIT):
        fail(1, name=f"guess{number}", address=f"192.0.2.{number}, 198.51.100.7")
    assert not gets_past_the_password(address="192.0.2.200, 198.51.100.7")


def test_failures_from_one_network_of_ipv6_add_up(ana: User) -> None:
    for number in range(LIMIT):
        fail(1, name=f"guess{number}", address=f"2001:db8:0:7::{number:x}")
    assert not gets_past_the_password(address="2001:db8:0:7:ffff::1")
    assert gets_past_the_password(address="2001:db8:0:8::1")


def test_an_address_of_ipv4_that_is_written_as_ipv6_is_the_same(ana: User) -> None:
    for number in range(LIMIT):
        fail(1, name=f"guess{number}", address="::ffff:198.51.100.7")
    assert not gets_past_the_password()
    assert gets_past_the_password(address="::ffff:203.0.113.9")


@pytest.mark.parametrize("address", ["unknown", "fe80::1%eth0", "198.51.100.7:4711", ""])
def test_an_address_that_is_none_breaks_nothing(address: str, ana: User) -> None:
    assert fail(1, address=address).status_code == 200


def test_it_ends_half_an_hour_after_the_last_failure_that_counted(ana: User) -> None:
    fail(LIMIT)
    fail(1)
    with clock.at(clock.now() + timedelta(minutes=29)):
        assert not gets_past_the_password()
    with clock.at(clock.now() + timedelta(minutes=30)):
        assert gets_past_the_password()


def test_tries_while_locked_out_do_not_put_its_end_off(ana: User) -> None:
    fail(LIMIT)
    before = list(SignInFailures.objects.values())
    fail(3)
    assert list(SignInFailures.objects.values()) == before


def test_wrong_codes_lock_out_too(ana: User) -> None:
    app = app_of(ana)
    visitor = Visitor()
    visitor.give_password()
    answers = [visitor.give_code(wrong_code_of(app)) for _ in range(LIMIT)]
    assert answers[-1].status_code == 429
    assert visitor.give_code(code_of(app)).status_code == 429
    assert not visitor.is_in()


def test_the_right_password_does_not_forgive_wrong_codes(ana: User) -> None:
    app = app_of(ana)
    for _ in range(LIMIT):
        visitor = Visitor()
        visitor.give_password()
        visitor.give_code(wrong_code_of(app))
    assert not gets_past_the_password()


def test_a_sign_in_resets_the_failures(ana: User) -> None:
    fail(LIMIT - 1, address="127.0.0.1")
    Visitor().sign_in(ana)
    fail(LIMIT - 1, address="127.0.0.1")
    assert gets_past_the_password(address="127.0.0.1")


def test_nobody_learns_whether_there_is_such_a_user(ana: User) -> None:
    known, unknown = fail(LIMIT), fail(LIMIT, name="nobody", address="203.0.113.9")
    assert (known.status_code, known.content) == (unknown.status_code, unknown.content)


def test_a_script_gets_the_same_answer_as_a_browser(ana: User) -> None:
    fail(LIMIT)
    answer = Visitor().give_password(**{"X-Requested-With": "XMLHttpRequest"})
    assert (answer.status_code, answer["Content-Type"]) == (429, "text/html; charset=utf-8")
    assert "Access-Control-Allow-Origin" not in answer


def test_a_name_and_an_address_are_kept_as_fingerprints(ana: User) -> None:
    fail(1, name="a-wrong-1-halo-halo")
    kept = [bytes(key) for key in SignInFailures.objects.values_list("key", flat=True)]
    assert sorted(kept) == sorted([key_of("name", "a-wrong-1-halo-halo"), key_of("address", "198.51.100.7")])


@pytest.mark.parametrize("whose", ["ana", "198.51.100.7"])
def test_a_command_ends_a_lock_out(ana: User, whose: str) -> None:
    fail(LIMIT, name="ana" if whose == "ana" else "nobody", address="203.0.113.9" if whose == "ana" else whose)
    assert not gets_past_the_password()
    call_command("end_lock_out", whose)
    assert gets_past_the_password()


@pytest.mark.django_db(transaction=True)
def test_failures_at_once_all_count(ana: User) -> None:
    at_once(3, lambda _: fail(1))
    assert set(SignInFailures.objects.values_list("failures", flat=True)) == {3}
