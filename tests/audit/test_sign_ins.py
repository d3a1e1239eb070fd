"""Audit entries for sign-ins, sign-outs and refusals, with their address."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from pytest_django.fixtures import Settings

from payments.models import AuditEntry
from payments.staff.sign_in import lockout
from tests.staff.conftest import _as_in_production, ana, visitor
from tests.staff.sign_in import Visitor, app_of, code_of, wrong_code_of

__all__ = ["_as_in_production", "ana", "visitor"]

ADDRESS = "203.0.113.9"
WRONG = "wrong-77-halo-halo"
Entries = list[tuple[str, str, str, str]]


@pytest.fixture(autouse=True)
def _three_failures_lock_out(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lockout, "FAILURES_MAX", 3)
    settings.TRUSTED_PROXIES = 1


def entries() -> Entries:
    """Return action, actor, origin and object of each entry about signing in or out."""
    entries = AuditEntry.objects.filter(action__in=["signed_in", "signed_out", "sign_in_failed", "locked_out"])
    return list(entries.order_by("id").values_list("action", "actor", "origin", "object_name"))


def fail(visitor: Visitor, name: str = "ana") -> None:
    visitor.give_password(name, WRONG, **{"X-Forwarded-For": ADDRESS})


def test_signing_in_and_out_is_recorded(ana: User, visitor: Visitor) -> None:
    visitor.defaults["HTTP_X_FORWARDED_FOR"] = ADDRESS
    visitor.sign_in(ana)
    visitor.post(reverse("admin:logout"))
    assert entries() == [("signed_in", "ana", ADDRESS, "ana"), ("signed_out", "ana", ADDRESS, "ana")]


def test_the_password_alone_is_no_sign_in(ana: User, visitor: Visitor) -> None:
    app_of(ana)
    visitor.give_password()
    assert entries() == []


def test_a_wrong_password_is_recorded_for_its_user(ana: User, visitor: Visitor) -> None:
    fail(visitor)
    assert entries() == [("sign_in_failed", "", ADDRESS, "ana")]


def test_a_wrong_code_is_recorded(ana: User, visitor: Visitor) -> None:
    app = app_of(ana)
    visitor.give_password()
    visitor.give_code(wrong_code_of(app), **{"X-Forwarded-For": ADDRESS})
    assert entries() == [("sign_in_failed", "", ADDRESS, "ana")]


def test_an_unknown_name_is_not_stored(ana: User, visitor: Visitor) -> None:
    fail(visitor, "hunter2-typed-as-a-name")
    assert entries() == [("sign_in_failed", "", ADDRESS, "")]


def test_too_many_failures_are_recorded_as_a_lock_out(ana: User, visitor: Visitor) -> None:
    for _ in range(3):
        fail(visitor)
    actions = [action for action, *_ in entries()]
    assert sorted(actions) == ["locked_out", "sign_in_failed", "sign_in_failed", "sign_in_failed"]
    assert ("locked_out", "", ADDRESS, "ana") in entries()


def test_a_locked_out_user_does_not_fill_the_log(ana: User, visitor: Visitor) -> None:
    for _ in range(3):
        fail(visitor)
    before = entries()
    fail(visitor)
    visitor.give_password(**{"X-Forwarded-For": ADDRESS})
    visitor.give_code(code_of(app_of(ana)))
    assert entries() == before


def test_no_entry_holds_a_password_or_a_code(ana: User, visitor: Visitor) -> None:
    app = app_of(ana)
    fail(visitor)
    visitor.give_password()
    code = wrong_code_of(app)
    visitor.give_code(code)
    kept = str(list(AuditEntry.objects.values()))
    assert [secret for secret in (WRONG, code) if f"'{secret}'" in kept] == []
