"""The headers of an idempotency key, and what the answer to a reused one names."""

from typing import Any

import pytest

from payments.clock import iso
from payments.models import IdempotencyRecord
from payments.web.environ import environ_of, request_of
from tests.client import Api, error_of, made
from tests.contract.calls import CUSTOMER

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
