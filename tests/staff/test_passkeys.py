"""The answers to passkeys that are malformed, or anonymous."""

from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User

from payments.staff.models import SignInFailures
from tests.admin.conftest import text_of
from tests.staff.sign_in import ADD_PASSKEY, LOGIN, SECOND_FACTOR, Visitor, app_of

NONSENSE = {
    "no JSON": "{",
    "list": "[]",
    "number": "7",
    "no text": '{"id": 7}',
    "no base64": '{"id": "A", "rawId": "!", "type": "public-key", "response": {}}',
    "no response": '{"id": "AA", "rawId": "AA", "type": "public-key"}',
    "deep": "[" * 100_000,
}


@pytest.mark.parametrize("address", [ADD_PASSKEY, SECOND_FACTOR])
def test_an_anonymous_request_is_refused(address: str, visitor: Visitor, db: None) -> None:
    answer: Any = visitor.post(address, {"credential": "{}"})
    assert (answer.status_code, answer["Location"].partition("?")[0]) == (302, LOGIN)


def test_a_newcomer_may_make_one(ana: User, visitor: Visitor) -> None:
    visitor.give_password()
    options = visitor.get(ADD_PASSKEY).context["js_data"]["creation_options"]["publicKey"]
    assert (options["rp"]["name"], options["user"]["name"]) == ("kaha", "ana")


def test_a_wrong_answer_counts_as_a_failure(ana: User, visitor: Visitor) -> None:
    app_of(ana)
    visitor.give_password()
    visitor.post(SECOND_FACTOR, {"credential": NONSENSE["no response"]})
    assert set(SignInFailures.objects.values_list("failures", flat=True)) == {1}
    assert not visitor.is_in()


@pytest.mark.long
@pytest.mark.parametrize("body", NONSENSE.values(), ids=NONSENSE)
@pytest.mark.parametrize("address", [ADD_PASSKEY, SECOND_FACTOR])
def test_a_body_that_is_nonsense_is_refused(address: str, body: str, ana: User, visitor: Visitor) -> None:
    if address == SECOND_FACTOR:
        app_of(ana)
    visitor.give_password()
    visitor.get(address)
    assert "errorlist" in text_of(visitor.post(address, {"credential": body}))
    assert not Authenticator.objects.filter(type="webauthn").exists()
    assert not visitor.is_in()
