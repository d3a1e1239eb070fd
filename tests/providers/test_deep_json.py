"""What nests without end is no answer of a provider, no webhook of it, and no error of ours."""

import json
from typing import Any

import pytest

from payments.json_codecs import bounded_json
from payments.json_codecs.bounded_json import MAX_NESTING, TooDeep
from payments.providers import http
from payments.providers.adyen import client as adyen_client
from payments.providers.adyen import webhooks as adyen_webhooks
from payments.providers.base import BadSignature, Unknown
from payments.providers.xendit import client as xendit_client
from payments.providers.xendit.webhooks import TOKEN_HEADER, read_webhook
from tests.providers.adyen.webhooks import HMAC_KEY, MERCHANT_ACCOUNT

DEEP = [b"[" * 60_000, b'{"a":' * 20_000, b"[" * 60_000 + b"]" * 60_000, b"[" * 200 + b"]" * 200]


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("body", DEEP)
def test_a_webhook_for_adyen_that_nests_too_deeply_is_nobodys(body: bytes) -> None:
    with pytest.raises(BadSignature):
        adyen_webhooks.read(body, HMAC_KEY, MERCHANT_ACCOUNT)


@pytest.mark.parametrize("body", DEEP)
def test_a_webhook_of_xendit_that_nests_too_deeply_cannot_be_read(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"nested|Expecting|delimiter"):
        read_webhook("token", {TOKEN_HEADER: "token"}, body)


@pytest.mark.parametrize("body", DEEP)
def test_an_answer_of_adyen_that_nests_too_deeply_is_unknown(body: bytes) -> None:
    with pytest.raises(adyen_client.AdyenRefused) as refusal:
        adyen_client._read(http.Reply(200, {}, body))
    assert isinstance(refusal.value.outcome, Unknown)


@pytest.mark.parametrize("body", DEEP)
def test_an_answer_of_xendit_that_nests_too_deeply_is_none(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"nested|Expecting|delimiter"):
        xendit_client.read(body)


def test_the_bound_is_exact() -> None:
    assert bounded_json.loads(json.dumps(nested(MAX_NESTING))) == nested(MAX_NESTING)
    with pytest.raises(TooDeep):
        bounded_json.loads(json.dumps(nested(MAX_NESTING + 1)))
