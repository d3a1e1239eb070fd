"""The passkey views' answers to malformed and anonymous requests."""

from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.urls import reverse
from django_otp_webauthn.models import WebAuthnCredential

from tests.staff.sign_in import Visitor, app_of

NAMES = [f"credential-{what}-{when}" for what in ("registration", "authentication") for when in ("begin", "complete")]


def ask(visitor: Visitor, name: str, body: Any = None) -> Any:
    raw = {"data": body} if isinstance(body, bytes) else {"data": body or {}}
    return visitor.post(reverse(f"otp_webauthn:{name}"), content_type="application/json", **raw)


@pytest.mark.parametrize("name", NAMES)
def test_an_anonymous_request_is_refused(name: str, visitor: Visitor, db: None) -> None:
    assert ask(visitor, name).status_code == 403


@pytest.mark.parametrize("name", [name for name in NAMES if "registration" in name])
def test_the_password_alone_adds_no_passkey_to_another_factor(name: str, ana: User, visitor: Visitor) -> None:
    app_of(ana)
    visitor.give_password()
    assert ask(visitor, name).status_code == 403
    assert not WebAuthnCredential.objects.exists()


def test_a_newcomer_may_make_one(ana: User, visitor: Visitor) -> None:
    visitor.give_password()
    options = ask(visitor, "credential-registration-begin").json()
    assert (options["rp"]["name"], options["user"]["name"]) == ("kaha", "ana")


def test_a_challenge_is_answered_once(ana: User, visitor: Visitor) -> None:
    app_of(ana)
    visitor.give_password()
    ask(visitor, "credential-authentication-begin")
    assert ask(visitor, "credential-authentication-complete").status_code == 404
    assert ask(visitor, "credential-authentication-complete").json()["code"] == "invalid_state"


def test_a_wrong_answer_counts_as_a_failure(ana: User, visitor: Visitor) -> None:
    app_of(ana)
    visitor.give_password()
    ask(visitor, "credential-authentication-begin")
    ask(visitor, "credential-authentication-complete", {"id": "AA", "rawId": "AA", "type": "public-key"})
    assert [attempt.username for attempt in AccessAttempt.objects.all()] == ["ana"]
    assert not visitor.is_in()


@pytest.mark.parametrize(
    "body",
    [b"\xff", b"[" * 100_000, b"{", b"[]", b"7", b'{"id": 7}', b'{"id": "A", "rawId": "!", "response": {}}'],
    ids=["no UTF-8", "deep", "half", "list", "number", "no text", "no base64"],
)
@pytest.mark.parametrize("what", ["registration", "authentication"])
def test_a_body_that_is_nonsense_is_refused(what: str, body: bytes, ana: User, visitor: Visitor) -> None:
    if what == "authentication":
        app_of(ana)
    visitor.give_password()
    ask(visitor, f"credential-{what}-begin")
    assert 400 <= ask(visitor, f"credential-{what}-complete", body).status_code < 500
    assert not visitor.is_in()
