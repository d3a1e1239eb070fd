"""Idempotency keys: the same key and request give the same answer, and a refused request uses no key up."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from payments import clock
from payments.clock import iso
from payments.ids import first_id
from payments.models import IdempotencyRecord
from payments.tasks import run_sweep
from payments.web.environ import environ_of, request_of
from tests.charging.doubles import Double, NeverHears, Unreachable, provider
from tests.client import CHALLENGED, DECLINED, Api, error_of, made
from tests.contract.calls import CALLS, CARD_SOURCE, CUSTOMER, POSTS, Call, counts, customer, every, faults_of, order

KEY = "order 5, first try"
HEADERS = ("Idempotency-Key", "X-Idempotency-Key")


def is_replay(again: HttpResponse, first: HttpResponse) -> bool:
    # The first answer alone shows the secret of a webhook endpoint.
    without_secret = re.sub(rb',"secret":"whsec_[^"]*"', b"", first.content)
    return (
        (again.status_code, again.content) == (first.status_code, without_secret)
        and again.get("Idempotent-Replayed") == "true"
        and "Idempotent-Replayed" not in first
    )


def refuse_reuse(response: HttpResponse) -> None:
    error = error_of(response)
    expected = (409, "idempotency_error", "idempotency_key_reused")
    assert (response.status_code, error["type"], error["code"]) == expected


@pytest.mark.long
@every(POSTS)
@pytest.mark.parametrize("header", HEADERS)
def test_every_post_is_answered_alike_however_often_it_is_sent(api: Api, call: Call, header: str) -> None:
    path, body = call.prepare(api)
    first = call.make(api, path, body, **{header: KEY})
    before = counts(api)
    again = [call.make(api, path, body, **{header: KEY}) for _ in range(3)]
    assert first.status_code == call.status
    assert [is_replay(response, first) for response in again] == [True] * 3
    assert counts(api) == before


@every(POSTS)
def test_both_headers_name_the_same_key(api: Api, call: Call) -> None:
    path, body = call.prepare(api)
    first = call.make(api, path, body, **{HEADERS[0]: KEY})
    assert is_replay(call.make(api, path, body, **{HEADERS[1]: KEY}), first)


@every(POSTS)
def test_a_slash_more_or_less_is_no_other_request(api: Api, call: Call) -> None:
    path, body = call.prepare(api)
    first = call.make(api, path, body, **{HEADERS[0]: KEY})
    assert is_replay(call.make(api, path + "/", body, **{HEADERS[0]: KEY}), first)


@every(POSTS)
def test_the_same_key_with_another_body_is_refused(api: Api, call: Call) -> None:
    path, body = call.prepare(api)
    call.make(api, path, body, **{HEADERS[0]: KEY})
    before = counts(api)
    refuse_reuse(call.make(api, path, (body or {}) | {"metadata": {"another": "one"}}, **{HEADERS[0]: KEY}))
    assert counts(api) == before


@every(POSTS)
def test_the_same_key_on_another_path_is_refused(api: Api, call: Call) -> None:
    path, body = call.prepare(api)
    call.make(api, path, body, **{HEADERS[0]: KEY})
    other = "/sources/" if path != "/sources" else "/customers/"
    refuse_reuse(call.make(api, other, body, **{HEADERS[0]: KEY}))


@every(POSTS)
def test_another_merchant_may_use_the_same_key(api: Api, other_api: Api, call: Call) -> None:
    answers = []
    for one in (api, other_api):
        path, body = call.prepare(one)
        answers.append(call.make(one, path, body, **{HEADERS[0]: KEY}))
    assert [answer.status_code for answer in answers] == [call.status] * 2
    assert "Idempotent-Replayed" not in answers[1]
    if call not in (CALLS["let time pass"], CALLS["test an endpoint"]):
        assert answers[0].json()["id"] != answers[1].json()["id"]


def test_the_other_mode_may_use_the_same_key(api: Api, live_api: Api) -> None:
    answers = [one.post("/customers/", CUSTOMER, KEY) for one in (api, live_api)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert [answer.json()["livemode"] for answer in answers] == [False, True]


def test_without_a_key_every_request_is_done(api: Api) -> None:
    assert len({customer(api)["id"] for _ in range(3)}) == 3


def test_another_key_is_another_request(api: Api) -> None:
    answers = [api.post("/sources/", CARD_SOURCE, key).json()["id"] for key in ("a", "b", "A")]
    assert len(set(answers)) == 3


@pytest.mark.parametrize("key", ["x", "x" * 255, " spaced out ", "!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~"])
def test_a_key_is_any_printable_text(api: Api, key: str) -> None:
    first = api.post("/sources/", CARD_SOURCE, key)
    assert first.status_code == 200
    assert is_replay(api.post("/sources/", CARD_SOURCE, key), first)


@pytest.mark.parametrize("key", ["", "x" * 256, "a\tb", "a\x01b", "a\x7fb"])
@pytest.mark.parametrize("header", HEADERS)
def test_what_is_no_key_is_refused_and_nothing_is_done(api: Api, header: str, key: str) -> None:
    response = api.post("/customers/", CUSTOMER, **{header: key})
    assert 400 <= response.status_code < 500
    assert counts(api)["customers"] == 0


@pytest.mark.parametrize("number", [DECLINED, CHALLENGED, "4000000000005100"])
def test_a_charge_is_answered_alike_whatever_came_of_it(api: Api, number: str) -> None:
    body = order(api.source(number))
    first = api.post("/charges/", body, KEY)
    assert first.status_code == 201
    assert is_replay(api.post("/charges/", body, KEY), first)


def test_a_replay_is_the_first_answer_and_not_the_present_state(api: Api) -> None:
    body = order(api.source(), capture=False)
    first = api.post("/charges/", body, KEY)
    made(api.post(f"/charges/{first.json()['id']}/void"))
    assert is_replay(api.post("/charges/", body, KEY), first)


@pytest.mark.parametrize(
    ("verb", "body", "make"),
    [
        ("capture", {"amount": 10_001}, lambda api: api.held()),
        ("capture", {}, lambda api: api.charge()),
        ("void", {}, lambda api: api.charge(DECLINED)),
        ("refund", {"amount": 10_001}, lambda api: api.charge()),
        ("refund", {}, lambda api: api.held()),
        ("verify", {"confirmation_id": "12345", "otp": "123456"}, lambda api: api.charge()),
    ],
)
def test_a_conflict_is_answered_alike(
    api: Api, verb: str, body: dict[str, Any], make: Callable[[Api], dict[str, Any]]
) -> None:
    path = f"/charges/{make(api)['id']}/{verb}"
    first = api.post(path, body, KEY)
    assert first.status_code == 409
    assert is_replay(api.post(path, body, KEY), first)


def test_the_conflict_about_a_used_source_is_answered_alike(api: Api) -> None:
    source = api.source()
    api.charge_source(source)
    first = api.post("/charges/", order(source), KEY)
    assert error_of(first)["code"] == "source_already_used"
    assert is_replay(api.post("/charges/", order(source), KEY), first)


def test_a_conflict_is_answered_alike_when_its_reason_is_gone(api: Api) -> None:
    charge = api.held()
    first = api.post(f"/charges/{charge['id']}/refund", None, KEY)
    made(api.post(f"/charges/{charge['id']}/capture"))
    assert first.status_code == 409
    assert is_replay(api.post(f"/charges/{charge['id']}/refund", None, KEY), first)


def test_a_refund_sent_again_gives_nothing_more_back(api: Api) -> None:
    charge = api.charge(amount=500)
    for _ in range(3):
        api.post(f"/charges/{charge['id']}/refund", {"amount": 100}, KEY)
    assert api.read(charge)["amount_refunded"] == 100


def test_a_charge_sent_again_is_answered_without_a_search_for_it(api: Api) -> None:
    body = order(api.source())
    first = api.post("/charges/", body, KEY)
    with CaptureQueriesContext(connection) as asked:
        assert is_replay(api.post("/charges/", body, KEY), first)
    assert not [each["sql"] for each in asked if 'FROM "payments_charge"' in each["sql"]]


def test_a_refund_sent_again_has_no_later_one_looked_up(api: Api) -> None:
    path, looked_up = f"/charges/{api.charge()['id']}/refund", list[object]()
    first = api.post(path, {"amount": 100}, KEY)
    with provider(NeverHears()):
        made(api.post(path, {"amount": 200}))
    with provider(Double(resolve=lambda do, asked: looked_up.append(asked) or do())):
        assert is_replay(api.post(path, {"amount": 100}, KEY), first)
    assert looked_up == []


def test_a_wrong_pin_sent_again_is_no_other_try(api: Api) -> None:
    path, body = CALLS["verify"].prepare(api)
    for _ in range(4):
        api.post(path, body | {"otp": "000000"}, KEY)
    assert made(api.post(path, body))["status"] == "succeeded"


@every(POSTS)
def test_while_the_first_is_running_the_second_gets_retry_after(api: Api, call: Call) -> None:
    path, body = call.prepare(api)
    call.make(api, path, body, **{HEADERS[0]: KEY})
    IdempotencyRecord.objects.filter(key=KEY).update(status=None, body=None)
    before = counts(api)

    response = call.make(api, path, body, **{HEADERS[0]: KEY})

    error = error_of(response)
    expected = (409, "idempotency_error", "idempotency_key_in_use", "1")
    assert (response.status_code, error["type"], error["code"], response["Retry-After"]) == expected
    assert counts(api) == before


@pytest.mark.parametrize(("days", "is_kept"), [(29, True), (31, False)])
def test_an_answer_is_kept_for_thirty_days(api: Api, days: int, is_kept: bool) -> None:
    first = api.post("/customers/", CUSTOMER, KEY)
    IdempotencyRecord.objects.update(id=first_id(clock.now() - timedelta(days=days)))
    run_sweep("delete_old_rows")
    again = api.post("/customers/", CUSTOMER, KEY)
    assert (again.content == first.content, "Idempotent-Replayed" in again) == (is_kept, is_kept)


def test_after_thirty_days_a_key_may_be_used_for_something_else(api: Api) -> None:
    api.post("/customers/", CUSTOMER, KEY)
    IdempotencyRecord.objects.update(id=first_id(clock.now() - timedelta(days=31)))
    run_sweep("delete_old_rows")
    assert api.post("/sources/", CARD_SOURCE, KEY).status_code == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "GET"])
def test_only_a_post_uses_a_key(api: Api, method: str) -> None:
    path = f"/customers/{customer(api)['id']}"
    response = api.send(method, path, None, {"Idempotency-Key": KEY})
    assert response.status_code == 200
    assert api.post("/sources/", CARD_SOURCE, KEY).status_code == 200


TWO = {"Idempotency-Key": "order 5", "X-Idempotency-Key": "order 6"}


def test_two_headers_with_different_keys_are_refused(api: Api) -> None:
    response = api.post("/customers/", CUSTOMER, **TWO)
    error = error_of(response)
    assert (response.status_code, error["code"], error["param"]) == (422, "not_together", "Idempotency-Key")
    assert made(api.get("/customers/"))["data"] == []
    assert not IdempotencyRecord.objects.exists()


def test_two_headers_with_one_key_are_one(api: Api) -> None:
    first = api.post("/customers/", CUSTOMER, **dict.fromkeys(TWO, "order 5"))
    assert api.post("/customers/", CUSTOMER, key="order 5").content == first.content


@pytest.mark.parametrize(
    ("values", "status"),
    [(["a", "b"], 422), (["a", "a"], 201), (["a,b"], 201), (["a", ""], 422), (["a", "b", "a"], 422)],
)
def test_a_header_that_was_sent_twice_is_one_key_or_refused(api: Api, values: list[str], status: int) -> None:
    scope: dict[str, Any] = {"http_version": "1.1", "method": "POST", "raw_path": b"/", "query_string": b""}
    scope |= {"server": ("a", 1), "client": ("a", 1), "scheme": "http"}
    scope["headers"] = [(b"idempotency-key", value.encode()) for value in values]
    sent = request_of(environ_of(scope)).META["HTTP_IDEMPOTENCY_KEY"]
    assert api.post("/customers/", CUSTOMER, **{"Idempotency-Key": sent}).status_code == status


def test_a_reused_key_is_answered_with_the_earlier_request_and_its_time(api: Api) -> None:
    first = api.post("/customers/", CUSTOMER, key="order 5")
    error = error_of(api.post("/customers/", CUSTOMER | {"description": "Other"}, key="order 5"))
    assert error["code"] == "idempotency_key_reused"
    assert f"{first['Request-Id']} at {iso(IdempotencyRecord.objects.get().created_at)}" in error["message"]
    assert error["request_id"] != first["Request-Id"]


def test_a_reused_key_of_a_refused_charge_names_its_request(api: Api) -> None:
    source = api.source()
    api.charge_source(source)
    order = {"amount": 1, "source": source, "description": "x"}
    refused = api.post("/charges/", order, key="order 5")
    assert error_of(refused)["code"] == "source_already_used"
    assert refused["Request-Id"] in error_of(api.post("/charges/", order | {"amount": 2}, key="order 5"))["message"]


@pytest.mark.parametrize("path", ["sources", "charges"])
def test_every_way_to_claim_a_key_names_its_request(api: Api, path: str) -> None:
    body = {"type": "gcash"} if path == "sources" else {"amount": 1, "source": api.source(), "description": "x"}
    first = api.post(f"/{path}/", body, key="order 5")
    other = api.post(f"/{path}/", body | {"metadata": {"a": 1}}, key="order 5")
    assert made(first)["id"]
    assert first["Request-Id"] in error_of(other)["message"]


REFUSED: dict[str, tuple[int, str, Any]] = {
    "not found": (404, "/charges/", order("src_1")),
    "no such charge": (404, "/charges/ch_1/capture", None),
    "no such path": (404, "/nowhere", CARD_SOURCE),
    "bad body": (422, "/sources/", {"type": "nonsense"}),
    "unknown member": (422, "/customers/", CUSTOMER | {"age": 5}),
    "bad JSON": (400, "/sources/", b"{"),
}


@pytest.mark.parametrize("refused", REFUSED)
def test_a_refused_request_does_not_use_its_key_up(api: Api, refused: str) -> None:
    status, path, body = REFUSED[refused]
    assert api.post(path, body, KEY).status_code == status
    response = api.post("/sources/", CARD_SOURCE, KEY)
    assert response.status_code == 200
    assert "Idempotent-Replayed" not in response


def test_a_source_that_cannot_be_held_does_not_use_the_key_up(api: Api) -> None:
    body = order(api.wallet(), capture=False)
    assert faults_of(api.post("/charges/", body, KEY)).keys() == {"capture"}
    assert api.post("/charges/", body | {"capture": True}, KEY).status_code == 201


def test_an_unavailable_type_does_not_use_the_key_up(live_api: Api) -> None:
    assert faults_of(live_api.post("/sources/", {"type": "gcash"}, KEY)) == {"type": "source_type_unavailable"}
    assert live_api.post("/customers/", CUSTOMER, KEY).status_code == 201


def test_a_wrong_confirmation_does_not_use_the_key_up(api: Api) -> None:
    path, body = CALLS["verify"].prepare(api)
    assert api.post(path, body | {"confirmation_id": "12345"}, KEY).status_code == 422
    assert made(api.post(path, body, KEY))["status"] == "succeeded"


def test_a_request_without_a_valid_key_does_not_use_the_key_up(api: Api) -> None:
    assert api.post("/sources/", CARD_SOURCE, KEY, Authorization="").status_code == 401
    assert api.post("/sources/", CARD_SOURCE | {"metadata": {"a": 1}}, KEY).status_code == 200


def test_a_request_that_wants_a_secret_key_does_not_use_the_key_up(api: Api, browser: Api) -> None:
    assert browser.post("/customers/", CUSTOMER, KEY).status_code == 403
    assert api.post("/sources/", CARD_SOURCE, KEY).status_code == 200


def test_a_body_of_another_media_type_does_not_use_the_key_up(api: Api) -> None:
    headers = api.headers() | {"Idempotency-Key": KEY}
    assert api.client.post("/v2/sources/", "type=gcash", content_type="text/plain", headers=headers).status_code == 415
    assert api.post("/sources/", CARD_SOURCE, KEY).status_code == 200


def test_a_request_beyond_the_rate_does_not_use_the_key_up(api: Api, settings: Settings) -> None:
    settings.RATE_LIMIT = "1/year"
    api.get("/ping")
    assert api.post("/sources/", CARD_SOURCE, KEY).status_code == 429
    settings.RATE_LIMIT = "1000/year"
    assert api.post("/customers/", CUSTOMER, KEY).status_code == 201


def test_an_operation_that_could_not_be_sent_does_not_use_the_key_up(api: Api) -> None:
    path = f"/charges/{api.held()['id']}/capture"
    with provider(Unreachable()):
        assert api.post(path, None, KEY).status_code == 503
    assert made(api.post(path, None, KEY))["captured"] is True
