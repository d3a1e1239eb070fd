"""Passwords are hashed in a line of their own, one for known browsers and one for all others."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from payments import context
from payments.concurrency.fair_queue import BriefQueue
from payments.staff.sign_in import passwords
from payments.web import known_browsers
from tests.staff.sign_in import LOGIN, PASSWORD, Visitor


@pytest.fixture(autouse=True)
def _without_patience(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.ADMIN_MFA = False
    for name in ("KNOWN", "UNKNOWN"):
        monkeypatch.setattr(passwords, name, BriefQueue(passwords.MOST_WAITING, 0.01))


def test_a_known_browser_signs_in_while_others_wait_for_a_hash(ana: User) -> None:
    known = Visitor()
    known.give_password()
    known.post("/admin/logout/")
    with passwords.UNKNOWN.turn("somebody", RuntimeError, lambda: None):
        refused = Visitor().post(LOGIN, {"login": "ana", "password": PASSWORD})
        assert (refused.status_code, refused["Retry-After"]) == (503, "5")
        known.give_password()
    assert known.is_in()


@pytest.mark.parametrize("cookie", ["1", "1:1:1", "", "x" * 5000])
def test_a_browser_that_says_it_is_known_is_not(cookie: str, ana: User) -> None:
    visitor = Visitor()
    visitor.cookies[known_browsers.NAME] = cookie
    with passwords.UNKNOWN.turn("somebody", RuntimeError, lambda: None):
        assert visitor.post(LOGIN, {"login": "ana", "password": PASSWORD}).status_code == 503


def test_a_page_gives_its_turn_back_before_a_hash(ana: User) -> None:
    turns = list[str]()
    token = context.on_wait.set(lambda: turns.append("given back"))
    try:
        Visitor().give_password()
    finally:
        context.on_wait.reset(token)
    assert turns == ["given back"]


def test_a_brief_queue_refuses_more_than_may_wait_before_they_give_their_turn_back() -> None:
    queue, waits = BriefQueue(0, 0.01), list[str]()
    assert queue._places.take("another")
    with pytest.raises(RuntimeError), queue.turn("a caller", RuntimeError, lambda: waits.append("waits")):
        pass
    assert waits == []
