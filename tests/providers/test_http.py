"""The line to the providers: its limits, and what is certain about a request when it breaks."""

import gc
import logging
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from email.parser import BytesParser

import pytest

from payments.providers import http
from payments.providers.http import MAX_ANSWER_BYTES, Connections, Unanswered, Unsent
from tests.concurrency import at_once
from tests.support.http_server import NOBODY, Answered, answering

SHORT_SECONDS = 0.3
HEADERS = {"Authorization": "Basic bm9ib2R5"}
BODY = b'{"number": "4000000000003055"}'


def test_an_answer_is_given_whole() -> None:
    with answering(lambda asked: Answered(201, {"asked": asked.body.decode()}, {"X-Ray": "1"})) as fake:
        reply = http.send("POST", f"{fake.address}/payments", HEADERS, b"how much?")
    assert (reply.status, reply.content) == (201, b'{"asked": "how much?"}')
    assert reply.headers["x-ray"] == "1"


def test_an_answer_that_has_no_end_is_not_read_on() -> None:
    with answering(lambda _: Answered(200, "x" * MAX_ANSWER_BYTES)) as fake, pytest.raises(Unanswered):
        http.send("GET", fake.address, {})


def test_an_answer_that_trickles_in_is_waited_for_no_longer_than_any_other() -> None:
    def trickle() -> Iterator[bytes]:
        while True:
            yield b"x"
            time.sleep(0.01)

    answer = Answered(200, trickle(), length=1_000_000)
    with answering(lambda _: answer) as fake, closing(Connections(SHORT_SECONDS)) as line, pytest.raises(Unanswered):
        line.send("GET", fake.address, {}, None)


def test_nobody_is_followed_elsewhere() -> None:
    with answering(lambda _: Answered(302, {}, {"Location": "/elsewhere"})) as fake:
        assert http.send("POST", f"{fake.address}/payments", {}, BODY).status == 302
    assert [asked.path for asked in fake.requests] == ["/payments"]


def test_no_cookie_is_kept() -> None:
    with answering(lambda _: Answered(200, {}, {"Set-Cookie": "session=1"})) as fake:
        for _ in range(2):
            http.send("GET", fake.address, {})
    assert [asked.headers.get("Cookie") for asked in fake.requests] == [None, None]


@pytest.mark.long
def test_an_answer_arrives_on_a_connection_that_was_idle_while_the_process_forked() -> None:
    with answering(lambda _: Answered(200, {})) as fake:
        http.send("GET", fake.address, {})
        # A function to call in the child makes it a fork that Python sees.
        subprocess.run(["true"], check=True, preexec_fn=gc.collect)
        assert http.send("GET", fake.address, {}).status == 200


def test_without_a_connection_nothing_was_sent() -> None:
    with pytest.raises(Unsent):
        http.send("POST", NOBODY, {}, BODY)


def test_a_request_that_cannot_be_verified_is_sent_nothing() -> None:
    with answering(lambda _: Answered(200, {})) as fake, pytest.raises(Unsent):
        http.send("POST", fake.address.replace("http:", "https:"), HEADERS, BODY)


@pytest.mark.long
def test_many_ask_at_once() -> None:
    with answering(lambda asked: Answered(200, {"path": asked.path})) as fake:
        replies = at_once(20, lambda number: http.send("GET", f"{fake.address}/{number}", {}))
    assert [reply.content for reply in replies] == [f'{{"path": "/{number}"}}'.encode() for number in range(20)]


def test_a_log_line_shows_that_it_was_asked_and_not_what(caplog: pytest.LogCaptureFixture) -> None:
    with answering(lambda _: Answered(200, {"secret": "answer"})) as fake, caplog.at_level(logging.INFO):
        http.send("POST", f"{fake.address}/payments?token=hidden", HEADERS, BODY)
    [record] = [each for each in caplog.records if each.name == "kaha.provider"]
    announced = {name: getattr(record, name) for name in ("method", "host", "path", "status")}
    assert announced == {"method": "POST", "host": "127.0.0.1", "path": "/payments", "status": 200}
    for unsaid in ("hidden", "bm9ib2R5", "4000000000003055", "answer"):
        assert unsaid not in str(vars(record))


def test_a_form_has_each_field_whole_whatever_is_in_it() -> None:
    content = bytes(range(256)) + b"\r\n--boundary--\r\n"
    fields = [
        http.Field("words", "₱100, salamat".encode(), "text/plain; charset=utf-8"),
        http.Field('a"\r\nX-Injected: yes', content, "application/pdf", "evidence.pdf"),
    ]
    content_type, body = http.form(fields)
    parts = BytesParser().parsebytes(f"Content-Type: {content_type}\r\n\r\n".encode() + body).get_payload()
    assert isinstance(parts, list)
    assert [part.get_payload(decode=True) for part in parts] == [fields[0].content, content]
    assert [part.get_filename() for part in parts] == [None, "evidence.pdf"]
    assert not any("X-Injected" in part for part in parts)
