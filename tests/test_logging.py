"""What is logged: one JSON line each, with the request's ID, and never a card number, CVC or key."""

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from config.logs.outputs import Output
from config.logs.setup import LineHandler
from payments import ids
from payments.sensitive_data.redaction import CUT, MAX_CHARACTERS, redact, suspicious
from tests.client import APPROVED, Api

PAN = "4242424242424242"
KEY = "sk_live_" + "aB3" * 11
# As short as card numbers are.
SHORT = ("4222222222222", "36006666333344", "378282246310005", "3782 822463 10005", "12345678901234")
SECRETS = (PAN, "4242 4242 4242 4242", "4242-4242-4242-4242", KEY, "whsec_" + "c2VjcmV0" * 4)

logger = logging.getLogger("tests.anything")


class Lines:
    """What the service's own logging wrote."""

    def __init__(self, handler: LineHandler, file: Path) -> None:
        self.handler = handler
        self.file = file

    @property
    def text(self) -> str:
        return self.file.read_text()

    @property
    def all(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]

    def of(self, name: str) -> list[dict[str, Any]]:
        return [line for line in self.all if line["logger"] == name]


@pytest.fixture
def lines(tmp_path: Path) -> Iterator[Lines]:
    """Yield the configured handler, writing to a file."""
    [handler] = [handler for handler in logging.getLogger().handlers if isinstance(handler, LineHandler)]
    before, file = handler.output, tmp_path / "log"
    with file.open("wb") as opened:
        handler.output = Output(opened.fileno())
        yield Lines(handler, file)
    handler.output = before


def raise_with(secret: str) -> None:
    raise RuntimeError(f"cannot take {secret}") from ValueError({"number": secret})


def log_traceback(secret: str) -> None:
    try:
        raise_with(secret)
    except RuntimeError:
        logger.exception("It broke.")


WAYS: dict[str, Callable[[str], None]] = {
    "message": lambda secret: logger.warning(f"took {secret} today"),  # noqa: G004  that is what is tried
    "argument": lambda secret: logger.warning("took %s today", secret),
    "named argument": lambda secret: logger.warning("took %(it)s today", {"it": secret}),
    "object": lambda secret: logger.warning("took %r", SimpleNamespace(card=secret)),
    "extra": lambda secret: logger.warning("took", extra={"card": secret}),
    "extra name": lambda secret: logger.warning("took", extra={"cards": {secret: 1}}),
    "extra structure": lambda secret: logger.warning("took", extra={"cards": [{"a": (secret,)}]}),
    "extra object": lambda secret: logger.warning("took", extra={"card": SimpleNamespace(card=secret)}),
    "extra bytes": lambda secret: logger.warning("took", extra={"card": secret.encode()}),
    "message object": lambda secret: logger.warning({"card": secret}),
    "json in a message": lambda secret: logger.warning(json.dumps({"a": json.dumps({"b": secret})})),
    "traceback": log_traceback,
    "stack": lambda secret: logger.warning(secret, stack_info=True),
    "unserialisable names": lambda secret: logger.warning("took", extra={"cards": {(secret, 1): secret}}),
    "another library": lambda secret: logging.getLogger("urllib3.connectionpool").error("GET /?q=%s", secret),
    "django": lambda secret: logging.getLogger("django.db.backends").error("INSERT %s", secret),
}


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("way", WAYS)
def test_no_secret_gets_into_the_log_by_any_way(lines: Lines, way: str, secret: str) -> None:
    WAYS[way](secret)
    assert len(lines.all) == 1
    assert secret not in lines.text
    assert PAN not in lines.text.replace(" ", "").replace("-", "")


@pytest.mark.parametrize("secret", [*SHORT, "4242.4242.4242.4242", "4242\t4242\t4242\t4242", "４２４２" * 4])
@pytest.mark.parametrize("way", ["message", "extra", "extra structure", "json in a message", "traceback"])
def test_no_short_or_disguised_number_gets_into_the_log(lines: Lines, way: str, secret: str) -> None:
    WAYS[way](secret)
    [line] = lines.all
    assert secret not in lines.text
    assert json.dumps(secret)[1:-1] not in json.dumps(line)


@pytest.mark.parametrize("number", SHORT)
def test_what_is_looked_for_first_is_found_in_the_shortest_numbers_too(number: str) -> None:
    assert suspicious(json.dumps({"a": [number]}))


@pytest.mark.parametrize("secret", SECRETS)
def test_a_record_that_cannot_be_formatted_shows_no_argument(lines: Lines, secret: str) -> None:
    broken = logging.LogRecord("tests.anything", logging.INFO, __file__, 7, "%s %s", (secret,), None)
    lines.handler.handle(broken)
    [line] = lines.all
    assert (line["message"], line["origin"]) == ("A log record could not be written.", "test_logging:7")
    assert secret not in lines.text


def test_a_traceback_is_shown_without_its_secrets(lines: Lines) -> None:
    log_traceback(PAN)
    [line] = lines.all
    assert "RuntimeError: cannot take [redacted]" in line["exc_info"]
    assert "raise_with" in line["exc_info"]


def test_numbers_are_redacted_too(lines: Lines) -> None:
    logger.warning("took %d", int(PAN), extra={"amount": int(PAN), "number": 1, "total": float(PAN), "plain": 42})
    [line] = lines.all
    assert PAN not in lines.text
    assert (line["amount"], line["number"], line["plain"]) == ("[redacted]", "[redacted]", 42)


@pytest.mark.parametrize(
    "text",
    [
        '{"cvc": "123"}',
        '{"cvc":"123"}',
        "{'cvc': '123'}",
        r"{\"cvc\": \"123\"}",
        'b\'{"cvc":"123"}\'',
        '{"cvc": 123}',
        "('cvc', '123')",
        "cvc=123&amount=1",
        "CVC: 123",
        "cvc 123",
        "card_cvc=123",
        '{"cvv2": "123"}',
        '{"otp": "123"}',
        '{"cvc"=>"123"}',
    ],
)
def test_a_cvc_is_hidden_where_it_is_named(lines: Lines, text: str) -> None:
    logger.warning(text)
    assert "123" not in lines.all[0]["message"]
    assert "123" not in redact(text)


def test_a_member_that_holds_a_secret_is_hidden_whatever_it_holds(lines: Lines) -> None:
    logger.warning(
        "took", extra={"body": {"CVC": [9, 8, 7], "Authorization": "sesame", "number": "99", "name": "Juan"}}
    )
    body = lines.all[0]["body"]
    assert body == {"CVC": "[redacted]", "Authorization": "[redacted]", "number": "[redacted]", "name": "Juan"}


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Basic c2VzYW1lOm9wZW4=",
        "Authorization: c2VzYW1lOm9wZW4=",
        "{'HTTP_AUTHORIZATION': 'Bearer c2VzYW1lOm9wZW4='}",
        '{"authorization":"basic c2VzYW1lOm9wZW4="}',
        "sent Basic c2VzYW1lOm9wZW4=",
        "bearer c2VzYW1lOm9wZW4=",
    ],
)
def test_an_authorization_is_hidden(text: str) -> None:
    assert "c2VzYW1l" not in redact(text)


@pytest.mark.parametrize(
    "text", [f"1 {PAN}", "2026 4242 4242 4242 4242 1", f"{PAN}123", f"x{PAN}y", f"{PAN}{PAN}", PAN[:-1]]
)
def test_a_card_number_among_other_digits_is_hidden(text: str) -> None:
    assert not any(character.isdigit() for character in redact(text))


@pytest.mark.parametrize(
    "text",
    [
        "Paid 1,889.00 PHP on 2026-11-21T01:43:00.123456Z, 99999999999 left.",
        "123456789012",
        "http://127.0.0.1:8000/v2/charges/?limit=20",
        "cvc_checked: pass",
        'WWW-Authenticate: Basic realm="kaha"',
        "sk_test_ keys start like this",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize("secret", [PAN, "4242 4242 4242 4242", f"sk_test_{'a1' * 20}", "cvc: 123"])
def test_a_long_text_is_cut_where_no_secret_is_torn_apart(secret: str) -> None:
    for shown in range(1, len(secret) + 1):
        text = redact("was here " * 4000 + "x" * (MAX_CHARACTERS - 36_000 - shown - 1) + " " + secret * 2)
        assert text.startswith("was here ")
        assert text.endswith(CUT)
        assert not any(character.isdigit() for character in text)


def test_a_long_line_is_looked_at_whatever_it_holds() -> None:
    assert suspicious(json.dumps({"a": "x" * MAX_CHARACTERS}))


def test_our_own_ids_are_never_taken_for_card_numbers() -> None:
    uuids = [ids.new_id() for _ in range(2000)]
    texts = [text for uuid in uuids for text in (ids.public_id("ch", uuid), uuid.hex, str(uuid))]
    assert [redact(text) for text in texts] == texts


@pytest.mark.parametrize("secret", [*SECRETS, '"cvc": "123"', "otp=1", "Basic c2VzYW1lOm9wZW4=", "authorization: x"])
def test_whatever_would_be_redacted_is_found_in_json_first(secret: str) -> None:
    assert redact(secret) != secret
    assert suspicious(json.dumps({"a": [secret]}))
    assert suspicious(json.dumps({"a": json.dumps({"b": secret.upper()})}))


def test_every_request_has_one_line_of_its_own(lines: Lines, api: Api) -> None:
    response = api.get("/charges/", limit="5")
    [line] = lines.all
    assert line.pop("milliseconds") > 0
    assert line.pop("sql_count") > 0
    assert line.pop("time").endswith("Z")
    assert line.pop("merchant").startswith("mer_")
    assert line.pop("key").startswith("key_")
    assert line == {
        "level": "INFO",
        "logger": "kaha.request",
        "message": "request",
        "request_id": response["Request-Id"],
        "method": "GET",
        "route": "v2/charges/?$",
        "livemode": False,
        "remote_address": "127.0.0.1",
        "status": 200,
    }


def test_a_handler_that_fails_changes_no_answer(lines: Lines, api: Api) -> None:
    """Somebody else's: ours lets nothing escape."""

    class Failing(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            raise OSError

    failing, requests = Failing(), logging.getLogger("kaha.request")
    requests.addHandler(failing)
    try:
        assert api.get("/ping").status_code == 200
    finally:
        requests.removeHandler(failing)


@pytest.mark.long
@pytest.mark.parametrize(
    "path", ["/customers/by_email/juan@example.com", "/nowhere/juan@example.com", "/me?a=juan@example.com"]
)
def test_a_request_line_has_no_path(lines: Lines, api: Api, path: str) -> None:
    assert api.get(path).status_code >= 400
    assert "juan" not in lines.text
    assert len(lines.of("kaha.request")) == 1


def test_the_id_is_on_every_line_within_the_request_and_on_none_after_it(lines: Lines, api: Api) -> None:
    response = api.get("/ping")
    logger.warning("afterwards")
    [request, after] = lines.all
    assert request["request_id"] == response["Request-Id"]
    assert "request_id" not in after


@pytest.mark.urls("tests.api.failing_routes")
@pytest.mark.parametrize("path", ["/fail/bug", "/bug/"])
def test_an_unexpected_error_is_logged_with_its_traceback_and_request(lines: Lines, api: Api, path: str) -> None:
    response = api.get(path)
    [error] = lines.of("kaha.error")
    assert error["request_id"] == response["Request-Id"]
    assert "RuntimeError" in error["exc_info"]
    assert PAN not in lines.text
    assert "cvc=123" not in lines.text


def test_a_payment_leaves_no_secret_in_the_log(lines: Lines, api: Api) -> None:
    charge = api.charge(APPROVED)
    api.post(f"/charges/{charge['id']}/refund", {"amount": 1})
    assert len(lines.of("kaha.request")) == 3
    for secret in (APPROVED, api.key, api.headers()["Authorization"].split()[1]):
        assert secret not in lines.text
