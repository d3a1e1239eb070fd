"""Signatures, against values that `openssl dgst` computed."""

import json
from datetime import UTC, datetime

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from payments import clock
from payments.webhooks.signatures import Signer

NEW, OLD = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
# The example of the specification.
MESSAGE, SENT_AT = "msg_p5jXN8AQM9LWM0D4loKWxJek", datetime(2021, 2, 25, 15, 2, 10, 999_999, tzinfo=UTC)
BODY, FOREIGN_BODY = b'{"test": 2432232314}', '{"id":"evt_1","note":"₱1,000 — señor"}'.encode()


@pytest.mark.parametrize(
    ("body", "signatures", "plain"),
    [
        (
            BODY,
            ["v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", "v1,78nXHjpFP0tVJQW5D0SBwmVyyW87BV/rL6MgfM/Bw44="],
            "v1=fc40649f80ed2d64aa1f71768b00c87e0db70663005ac910f741c296eff3be32",
        ),
        (
            FOREIGN_BODY,
            ["v1,WnhnMxGhXIj9M4tjITqrPfXkdy1rwg5QI3wAXapsMPo=", "v1,L85EEtywFnrpkXa8/MfXSDS/H6XT6SY1hU/7lhcwkLQ="],
            "v1=52a3559873620f48953ebd93270fc4ce0c800b279053da5acca5122ddd34e7df",
        ),
    ],
    ids=["specification", "beyond ASCII"],
)
def test_two_valid_secrets_make_two_standard_signatures_and_one_plain_of_the_older(
    body: bytes, signatures: list[str], plain: str
) -> None:
    assert Signer([NEW, OLD], "X-Kaha").headers_of(MESSAGE, body, SENT_AT) == {
        "webhook-id": MESSAGE,
        "webhook-timestamp": "1614265330",
        "webhook-signature": " ".join(signatures),
        "X-Kaha-Timestamp": "1614265330",
        "X-Kaha-Signature": plain,
    }


def test_one_secret_makes_one_signature_of_each_kind() -> None:
    headers = Signer([NEW], "Acme").headers_of(MESSAGE, BODY, SENT_AT)
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert set(headers) == {"webhook-id", "webhook-timestamp", "webhook-signature", "Acme-Timestamp", "Acme-Signature"}


@pytest.mark.parametrize("known", [NEW, OLD])
def test_a_receiver_with_either_secret_verifies_and_sees_any_change(known: str) -> None:
    headers = Signer([NEW, OLD], "X-Kaha").headers_of("evt_1", FOREIGN_BODY, clock.now())
    assert Webhook(known).verify(FOREIGN_BODY, headers) == json.loads(FOREIGN_BODY)
    for changed in ({"webhook-id": "evt_2"}, {"webhook-timestamp": str(int(headers["webhook-timestamp"]) - 1)}):
        with pytest.raises(WebhookVerificationError):
            Webhook(known).verify(FOREIGN_BODY, headers | changed)
    with pytest.raises(WebhookVerificationError):
        Webhook(known).verify(FOREIGN_BODY + b" ", headers)


def test_nothing_is_sent_unsigned() -> None:
    with pytest.raises(ValueError, match="unsigned"):
        Signer([], "X-Kaha")
