"""Numbers in metadata come back digit for digit, wherever they are shown."""

import json

import pytest

from payments.admin.framework.formats import pretty_json
from payments.models import Event, IdempotencyRecord, Source
from tests.client import Api, error_of, made

pytestmark = pytest.mark.django_db

NUMBERS = (
    *("1e2", "1E+2", "1.10", "1.0", "0.1", "-0", "-0.0", "1e-7", "100", "12345678901234567"),
    *("0.1000000000000000055511151231257827", "9" * 30, "-1.50E-300"),
)
WRITTEN = '{"numbers":[' + ",".join(NUMBERS) + '],"in":{"1e2":1e2,"text":"1e2 \\\\u0000"}}'
CUSTOMER = '"email":"juan@shop.example","description":"Juan"'


def sent(api: Api, path: str, members: str, key: str | None = None, metadata: str = WRITTEN) -> bytes:
    """Return the bytes of the answer to a body with these members and metadata."""
    response = api.post(path, f'{{{members},"metadata":{metadata}}}'.encode(), key=key)
    made(response)
    return response.content


def test_those_of_a_source_are_returned_as_sent(api: Api) -> None:
    answer = sent(api, "/sources/", '"type":"gcash"')
    assert WRITTEN.encode() in answer
    assert WRITTEN.encode() in api.get(f"/sources/{json.loads(answer)['id']}").content


def test_those_of_a_charge_are_returned_as_sent(api: Api) -> None:
    answer = sent(api, "/charges/", f'"amount":100,"source":"{api.source()}","description":"Taho"')
    read = api.get(f"/charges/{json.loads(answer)['id']}").content
    assert [WRITTEN.encode() in content for content in (answer, read, api.get("/charges/").content)] == [True] * 3


def test_those_of_a_customer_are_returned_as_sent_and_as_replaced(api: Api) -> None:
    answer = sent(api, "/customers/", CUSTOMER)
    path = f"/customers/{json.loads(answer)['id']}"
    assert WRITTEN.encode() in answer
    assert b'"metadata":{"total":2.50}' in api.put(path, b'{"metadata":{"total":2.50}}').content
    assert b'"metadata":{"total":2.50}' in api.get(path).content


def test_those_in_events_are_as_sent_for_receivers_and_in_the_list(api: Api) -> None:
    """The payload is what receivers get."""
    sent(api, "/charges/", f'"amount":100,"source":"{api.source()}","description":"Taho"')
    payloads = [bytes(event.payload) for event in Event.objects.filter(type__startswith="charge.")]
    assert len(payloads) >= 2
    assert all(WRITTEN.encode() in payload for payload in payloads)
    assert api.get("/events/").content.count(WRITTEN.encode()) == len(payloads)


def test_a_later_change_keeps_them(api: Api) -> None:
    answer = sent(api, "/charges/", f'"amount":100,"source":"{api.source()}","description":"Taho"')
    refunded = api.post(f"/charges/{json.loads(answer)['id']}/refund", {"amount": 40})
    assert WRITTEN.encode() in refunded.content


def test_those_of_a_replay_are_those_of_the_first_answer(api: Api) -> None:
    answers = {sent(api, "/customers/", CUSTOMER, key="once") for _ in range(2)}
    assert len(answers) == IdempotencyRecord.objects.count() == 1
    assert WRITTEN.encode() in answers.pop()


def test_another_way_to_write_a_number_is_another_request(api: Api) -> None:
    sent(api, "/customers/", CUSTOMER, key="once", metadata='{"total":1.10}')
    body = f'{{{CUSTOMER},"metadata":{{"total":1.1}}}}'.encode()
    assert error_of(api.post("/customers/", body, key="once"))["code"] == "idempotency_key_reused"


def test_operators_see_them_as_sent(api: Api) -> None:
    sent(api, "/sources/", '"type":"gcash"')
    shown = str(pretty_json(Source.objects.get().metadata))
    assert all(f"    {number}" in shown for number in NUMBERS)
