"""Errors as Sentry gets them: redacted like the log, without anything of the request, and never too many."""

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sentry_sdk
from django.http import HttpRequest

from config.logs.sentry import MOST, MOST_OF_KIND, MOST_OF_MERCHANT, Budget, SentryHandler
from payments import context, ids
from payments.embedded.folders import PROJECT
from tests.client import Api, error_of
from tests.test_logging import KEY, PAN, SECRETS, raise_with
from tests.traces.listeners import Listener, listener

Errors = Callable[[], list[dict[str, Any]]]
logger = logging.getLogger("tests.errors")


@pytest.fixture
def sentry() -> Iterator[Listener]:
    with listener() as listening:
        yield listening


@pytest.fixture
def errors(sentry: Listener) -> Iterator[Errors]:
    """Send the errors of this process to Sentry; yield what returns those that it has."""
    handler = SentryHandler(sentry.dsn)
    logging.getLogger().addHandler(handler)

    def sent() -> list[dict[str, Any]]:
        handler.flush()
        return sentry.errors

    yield sent
    logging.getLogger().removeHandler(handler)
    sentry_sdk.get_client().close(0)
    sentry_sdk.get_global_scope().set_client(None)


def log_error(secret: str) -> None:
    request = HttpRequest()
    request.path = f"/v2/customers/by_email/{secret}"
    try:
        raise_with(secret)
    except RuntimeError:
        logger.exception("Could not take %s.", secret, extra={"card": {"number": 1}, "why": secret, "request": request})


@pytest.mark.long
@pytest.mark.parametrize("secret", SECRETS)
def test_an_error_is_sent_without_its_secrets(errors: Errors, sentry: Listener, secret: str) -> None:
    log_error(secret)
    [event] = errors()
    assert event["logentry"]["formatted"].startswith("Could not take ")
    assert [each["type"] for each in event["exception"]["values"]] == ["ValueError", "RuntimeError"]
    assert event["extra"]["card"] == {"number": "[redacted]"}
    assert all(secret.encode() not in got.body for got in sentry.got)
    assert all(secret[-8:].encode() not in got.body for got in sentry.got)


def test_an_event_has_neither_variables_nor_source_nor_request(errors: Errors) -> None:
    with sentry_sdk.new_scope() as scope:
        scope.add_breadcrumb(message=f"card {PAN}")
        scope.set_user({"email": "juan@shop.example"})
        scope.set_context("anything", {"key": KEY})
        log_error("nothing")
    [event] = errors()
    assert set(event) <= {
        *("event_id", "timestamp", "platform", "level", "logger", "server_name", "release", "environment", "sdk"),
        *("logentry", "exception", "extra", "tags"),
    }
    frames = [frame for each in event["exception"]["values"] for frame in each["stacktrace"]["frames"]]
    assert frames
    assert all(set(frame) <= {"filename", "abs_path", "module", "function", "lineno", "in_app"} for frame in frames)
    assert "juan" not in repr(event)
    assert "request" not in event["extra"]


def test_an_event_is_found_by_the_ids_of_its_log_line(errors: Errors) -> None:
    request_id, merchant = ids.public_id("req", ids.new_id()), ids.new_id()
    tokens = context.request_id.set(request_id), context.merchant.set(merchant)
    logger.error("It broke.")
    context.request_id.reset(tokens[0])
    context.merchant.reset(tokens[1])
    [event] = errors()
    assert event["tags"] == {"request_id": request_id, "merchant": ids.public_id("mer", merchant)}


@pytest.mark.django_db
def test_an_unexpected_error_of_a_request_is_sent(errors: Errors, api: Api, monkeypatch) -> None:
    def break_it(*_: object, **__: object) -> None:
        raise RuntimeError(f"cannot take {PAN}")

    monkeypatch.setattr("payments.domain.charging.charges.create", break_it)
    order = {"amount": 10_000, "currency": "PHP", "source": api.source(), "description": "Halo-halo"}
    refused = error_of(api.post("/charges/", order))
    [event] = errors()
    assert event["tags"]["request_id"] == refused["request_id"]
    assert event["exception"]["values"][-1]["value"] == "cannot take [redacted]"
    assert api.key not in repr(event)
    assert "Halo-halo" not in repr(event)


def test_warnings_are_not_sent(errors: Errors) -> None:
    logger.warning("Something is odd.")
    assert errors() == []


def test_a_storm_of_one_error_is_bounded_and_the_next_event_says_how_many_were_not_sent(errors: Errors) -> None:
    for _ in range(50):
        logger.error("It broke.")
    logger.error("Something else broke.")
    *same, other = errors()
    assert len(same) == MOST_OF_KIND
    assert other["extra"]["errors_not_sent_before"] == 50 - MOST_OF_KIND


def test_one_merchants_errors_leave_room_for_those_of_others(monkeypatch) -> None:
    budget, now = Budget(), [60.0]
    monkeypatch.setattr("config.logs.sentry.time.monotonic", lambda: now[0])
    assert sum(budget.take(number, "loud") for number in range(1000)) == MOST_OF_MERCHANT
    assert budget.take(0, "quiet")
    assert sum(budget.take(number, None) for number in range(1000, 2000)) == MOST - MOST_OF_MERCHANT - 1
    now[0] += 60
    assert budget.take(0, "loud")


def test_an_event_that_cannot_be_made_ends_nothing(errors: Errors) -> None:
    class Broken:
        def __str__(self) -> str:
            raise RuntimeError("cannot be shown")

        __repr__ = __str__

    [handler] = [handler for handler in logging.getLogger().handlers if isinstance(handler, SentryHandler)]
    handler.handle(logging.makeLogRecord({"msg": "It broke: %s", "args": (Broken(),), "levelno": logging.ERROR}))
    assert errors() == []


@pytest.mark.long
def test_a_sentry_that_hangs_takes_no_more_than_the_queue(errors: Errors, sentry: Listener) -> None:
    sentry.is_open.clear()
    for number in range(MOST):
        logging.getLogger(f"tests.errors.{number}").error("It broke.")
    # It gives up waiting before Sentry answers.
    errors()
    assert not sentry.is_open.is_set()


@pytest.mark.long
def test_the_error_of_a_command_is_sent(sentry: Listener) -> None:
    command = [sys.executable, "manage.py", "shell", "-v", "0", "-c", f"int('{PAN}x')"]
    ended = subprocess.run(
        command, cwd=PROJECT, env=os.environ | {"SENTRY_DSN": sentry.dsn}, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1, ended.stderr
    [event] = sentry.errors
    assert event["exception"]["values"][-1]["type"] == "ValueError"
    assert all(PAN.encode() not in got.body for got in sentry.got)
