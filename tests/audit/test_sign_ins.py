"""Who came in, who left and who was refused, told with the address they came from."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from pytest_django.fixtures import Settings

from payments.models import AuditEntry
from tests.staff.conftest import _as_in_production, ana, visitor
from tests.staff.signing import Visitor, app_of, code_of, wrong_code_of

__all__ = ["_as_in_production", "ana", "visitor"]

ADDRESS = "203.0.113.9"
WRONG = "wrong-77-halo-halo"
Told = list[tuple[str, str, str, str]]


@pytest.fixture(autouse=True)
def _three_failures_lock_out(settings: Settings) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    settings.TRUSTED_PROXIES = 1


def told() -> Told:
    """Action, who, from where and about whom, of each entry that tells of somebody at the door."""
    entries = AuditEntry.objects.filter(action__in=["signed_in", "signed_out", "sign_in_failed", "locked_out"])
    return list(entries.order_by("number").values_list("action", "actor", "origin", "object_name"))


def fail(visitor: Visitor, name: str = "ana") -> None:
    visitor.give_password(name, WRONG, **{"X-Forwarded-For": ADDRESS})


def test_signing_in_and_out_is_told(ana: User, visitor: Visitor) -> None:
    visitor.defaults["HTTP_X_FORWARDED_FOR"] = ADDRESS
    visitor.sign_in(ana)
    visitor.post(reverse("admin:logout"))
    assert told() == [("signed_in", "ana", ADDRESS, "ana"), ("signed_out", "ana", ADDRESS, "ana")]


def test_the_password_alone_is_no_sign_in(ana: User, visitor: Visitor) -> None:
    app_of(ana)
    visitor.give_password()
    assert told() == []


def test_a_wrong_password_is_told_of_whose_it_was_to_be(ana: User, visitor: Visitor) -> None:
    fail(visitor)
    assert told() == [("sign_in_failed", "", ADDRESS, "ana")]


def test_a_wrong_code_is_told(ana: User, visitor: Visitor) -> None:
    app = app_of(ana)
    visitor.give_password()
    visitor.give_code(wrong_code_of(app), **{"X-Forwarded-For": ADDRESS})
    assert told() == [("sign_in_failed", "", ADDRESS, "ana")]


def test_a_name_that_nobody_has_is_not_kept(ana: User, visitor: Visitor) -> None:
    fail(visitor, "hunter2-typed-as-a-name")
    assert told() == [("sign_in_failed", "", ADDRESS, "")]


def test_one_failure_too_many_is_told_as_a_lock_out(ana: User, visitor: Visitor) -> None:
    for _ in range(3):
        fail(visitor)
    actions = [action for action, *_ in told()]
    assert sorted(actions) == ["locked_out", "sign_in_failed", "sign_in_failed", "sign_in_failed"]
    assert ("locked_out", "", ADDRESS, "ana") in told()


def test_whoever_is_locked_out_does_not_fill_the_log(ana: User, visitor: Visitor) -> None:
    for _ in range(3):
        fail(visitor)
    before = told()
    fail(visitor)
    visitor.give_password(**{"X-Forwarded-For": ADDRESS})
    visitor.give_code(code_of(app_of(ana)))
    assert told() == before


def test_no_entry_holds_a_password_or_a_code(ana: User, visitor: Visitor) -> None:
    app = app_of(ana)
    fail(visitor)
    visitor.give_password()
    code = wrong_code_of(app)
    visitor.give_code(code)
    kept = str(list(AuditEntry.objects.values()))
    assert [secret for secret in (WRONG, code) if f"'{secret}'" in kept] == []
