"""The log of requests, written by the web server about once a second."""

import json
import os
import signal
from collections import Counter
from typing import Any

import pytest

from payments.domain.merchants.merchants import NewMerchant
from payments.embedded.processes import wait_until
from payments.models import ApiRequest, Merchant
from payments.rendering.objects.charges import CHARGE_ID
from payments.web.stored_requests import MOST, MOST_AT_ONCE, MOST_IN_PAUSE, MOST_OF_ONE_WITH_BODIES, Buffer, plain_path
from tests.client import Api, made
from tests.contract.calls import newest_event
from tests.web.clients import PATIENCE_SECONDS, answer_on, ask, connect, head, length
from tests.web.conftest import ServeWithPid

pytestmark = pytest.mark.django_db(transaction=True)


def requests_of(api: Api) -> list[dict[str, Any]]:
    """Return the logged requests, those that ended first at first."""
    return made(api.get("/requests/", limit=100))["data"][::-1]


def shown(api: Api, count: int) -> list[tuple[str, str, int]]:
    """Return method, path and status of the first `count` logged requests, as soon as they are there."""
    assert wait_until(lambda: len(requests_of(api)) >= count, PATIENCE_SECONDS)
    return [(each["method"], each["path"], each["status"]) for each in requests_of(api)]


@pytest.mark.long
def test_requests_are_logged_with_their_ids_paths_and_statuses(port: int, api: Api, shop: NewMerchant) -> None:
    # Only what really waits is left out.
    lists = ["GET /v2/charges/?status=failed", "GET /v2/charges/?expand=wait=1"]
    asked = [*lists, "POST /v2/me", "GET /v2/customers/by_email/maria@shop.example"]
    answers = [ask(port, head(line, b"Content-Length: 0\r\n", key=api.key))[0] for line in asked]
    ask(port, head("GET /v2/charges/"))
    ask(port, head("GET /v2/requests/", key=api.key))
    ask(port, head("GET /v2/events/?wait=1", key=api.key))
    assert shown(api, 4) == [
        ("GET", "/v2/charges/", 200),
        ("GET", "/v2/charges/", 200),
        ("POST", "/v2/me", 405),
        ("GET", "/v2/customers/by_email/*", 404),
    ]
    assert [each["id"] for each in requests_of(api)] == [answer.headers["Request-Id"] for answer in answers]


@pytest.mark.long
def test_a_merchant_sees_its_own_requests_of_its_mode(
    port: int, api: Api, other_api: Api, live_api: Api, shop: NewMerchant
) -> None:
    for key in (api.key, other_api.key, live_api.key, shop.keys["pk_test"]):
        ask(port, head("GET /v2/ping", key=key))
    assert shown(api, 2) == [("GET", "/v2/ping", 200), ("GET", "/v2/ping", 403)]
    assert shown(other_api, 1) == shown(live_api, 1) == [("GET", "/v2/ping", 200)]


@pytest.mark.long
def test_bodies_are_kept_in_the_modes_that_the_merchant_chose(
    port: int, api: Api, other_api: Api, live_api: Api, shop: NewMerchant, other_shop: NewMerchant
) -> None:
    Merchant.objects.filter(pk=shop.merchant.pk).update(kept_bodies=Merchant.KeptBodies.TEST)
    body = b'{"type": "gcash", "owner": {"name": "Juan dela Cruz"}}'
    keys = (api.key, other_api.key, live_api.key)
    for key in keys:
        ask(port, head("POST /v2/sources/?expand=Juan", length(body), key=key) + body)
    assert [len(shown(each, 1)) for each in (api, other_api, live_api)] == [1, 1, 1]
    ours, others, live = ApiRequest.objects.order_by("id")
    assert ours.asked.replace("\n", "").replace(" ", "") == (
        '{"expand":"[4characters]"}{"type":"gcash","owner":{"name":"[14characters]"}}'
    )
    assert '"type": "gcash"' in ours.answered
    assert {others.asked, others.answered, live.asked, live.answered} == {""}


@pytest.mark.long
def test_a_server_that_stops_answers_the_requests_that_wait_and_writes_the_log(
    serve_with_pid: ServeWithPid, api: Api
) -> None:
    start = newest_event(api)
    port, pid = serve_with_pid(workers=1)
    with connect(port) as waiting:
        waiting.sendall(head(f"GET /v2/events/?ending_before={start}&wait=30", key=api.key))
        # Once a later request is answered, the server has this one.
        ask(port, head("GET /v2/ping", key=api.key))
        os.kill(pid, signal.SIGTERM)
        response, body = answer_on(waiting)
    assert (response.status, json.loads(body)["data"]) == (200, [])
    assert shown(api, 1) == [("GET", "/v2/ping", 200)]


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        (f"/v2/charges/{CHARGE_ID}/capture", f"/v2/charges/{CHARGE_ID}/capture"),
        ("/v2/charges/4242424242424242", "/v2/charges/*"),
        ("/v2/customers/by_email/maria@shop.example/", "/v2/customers/by_email/*/"),
        ("/v2/charges/sk_test_0123456789abcdef", "/v2/charges/*"),
    ],
)
def test_a_path_keeps_words_and_ids_alone(path: str, kept: str) -> None:
    assert plain_path(path) == kept


def test_one_caller_does_not_fill_the_buffer_for_others() -> None:
    buffer = Buffer()
    for caller in range(2):
        for _ in range(MOST_AT_ONCE + 10):
            buffer.add(caller, (caller,))
    lines, lost = buffer.take()
    assert (len(lines), lost) == (2 * MOST_AT_ONCE, 20)


def test_one_caller_has_few_lines_in_each_pause_after_a_burst() -> None:
    buffer = Buffer()
    for kept in (MOST_AT_ONCE, MOST_IN_PAUSE, MOST_IN_PAUSE):
        for _ in range(MOST_AT_ONCE + 1):
            buffer.add("one", ("line",))
        assert buffer.take() == ([("line",)] * kept, MOST_AT_ONCE + 1 - kept)
    for _ in range(MOST_AT_ONCE // MOST_IN_PAUSE):
        buffer.take()
    assert not buffer._by_caller


def test_of_one_caller_few_bodies_are_kept_in_each_pause() -> None:
    buffer = Buffer()
    for _ in range(2):
        taken = Counter(caller for caller in ("one", "other") for _ in range(99) if buffer.takes_bodies(caller))
        assert taken == {"one": MOST_OF_ONE_WITH_BODIES, "other": MOST_OF_ONE_WITH_BODIES}
        buffer.take()


def test_a_full_buffer_keeps_no_more() -> None:
    buffer = Buffer()
    for number in range(MOST + 5):
        buffer.add(number, (number,))
    lines, lost = buffer.take()
    assert (len(lines), lost) == (MOST, 5)
    assert buffer.take() == ([], 0)
