"""What the log of requests keeps of bodies: never a card's number, its code, a key or a secret, wherever they stand."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from payments.web.kept_bodies import MOST_BYTES, MOST_CHARACTERS, MOST_DEPTH, kept, kept_query
from tests.canaries.marks import SOURCE_CVC
from tests.canaries.misplaced import GOOD_CARD, NUMBER, WRITTEN, misplaced
from tests.client import Api, made

KEY = "sk_live_0123456789abcdefABCDEF0123456789"  # pragma: allowlist secret
SECRET = "whsec_QWxsIHRoZXNlIGJ5dGVzIGFyZSBzZWNyZXQgb25lcw=="  # pragma: allowlist secret
NAMES = ("number", "nubmer", "crd", "description", "metadata", "amount", "param", "message", "status", "line1", "x-1")


def written_everywhere(value: Any) -> Iterator[Any]:
    """Bodies with a value below each name, nested, in lists, among good members, and as a name."""
    for name in NAMES:
        yield from ({name: value}, {name: [value]}, {name: {"a": value}}, {"card": {name: value}}, [{name: value}])
        yield {"metadata": {name: {name: [value, {"amount": value}]}}}
    yield from ({str(value): 1}, {"metadata": {str(value): value}}, value, [value], {"line_items": [[value]]})


def holds(text: str) -> bool:
    digits = "".join(filter(str.isdecimal, text))
    return NUMBER in digits or SOURCE_CVC in text or KEY[8:] in text or SECRET[6:] in text


@pytest.mark.parametrize("secret", [*WRITTEN, int(NUMBER), SOURCE_CVC, f"cvc {SOURCE_CVC}", KEY, SECRET])
def test_no_secret_stays_wherever_it_stands(secret: Any) -> None:
    bodies = [json.dumps(body).encode() for body in written_everywhere(secret)]
    texts = [kept(each) for body in bodies for each in (body, body[:-1])]
    bare = urlencode(dict.fromkeys(NAMES, secret))
    texts += [kept(bare.encode()), kept_query(bare), kept_query(quote(str(secret)))]
    assert [text for text in texts if holds(text)] == []


def test_capitals_stay_of_codes_alone() -> None:
    texts = kept(
        json.dumps({"name": "LEE", "currency": "PHP", "owner": {"name": "TAN", "address_country": "UY"}}).encode()
    )
    assert [word for word in ("LEE", "PHP", "TAN") if word in texts] == ["PHP"]


def test_what_is_deeper_than_the_api_reads_is_not_looked_at() -> None:
    body = b'{"line_items": ' + b"[" * 50 + b"1" + b"]" * 50 + b"}"
    text = kept(body)
    assert "[1 members]" in text
    assert text.count("[") <= MOST_DEPTH + 1


@pytest.mark.long
def test_neither_request_nor_refusal_of_a_misplaced_card_keeps_it(api: Api) -> None:
    texts = []
    for method, path, rest in misplaced():
        query, body = urlencode(rest.get("params", {})), json.dumps(rest.get("json", {})).encode()
        answer = api.send(method, f"{path}?{query}", body, rest.get("headers", {}))
        assert answer.status_code in (404, 422)
        texts += [kept_query(query), kept(body), kept(answer.content, is_refusal=True)]
    texts += [kept(json.dumps({"type": "card", "card": GOOD_CARD}).encode())]
    assert [text for text in texts if holds(text)] == []


def test_a_charge_keeps_amounts_states_and_ids_and_no_text(api: Api) -> None:
    source = api.source()
    asked = {"amount": 125_000, "currency": "PHP", "source": source, "description": "Juan", "capture": False}
    shown = json.loads(kept(json.dumps(asked | {"amuont": 1}).encode()))
    assert shown == asked | {"description": "[4 characters]", "amuont": "[number]"}
    charge = made(api.post("/charges/", asked | {"metadata": {"order": "7"}}))
    shown = json.loads(kept(json.dumps(charge).encode()))
    same = ("id", "object", "amount", "currency", "status", "captured", "livemode", "created_at")
    assert {name: shown[name] for name in same} == {name: charge[name] for name in same}
    assert (shown["description"], shown["metadata"]) == ("[4 characters]", "[1 members]")


def test_a_refusal_keeps_what_it_says(api: Api) -> None:
    answer = json.loads(kept(api.post("/charges/", {"amuont": 5}).content, is_refusal=True))
    error, [fault, *_] = answer["error"], answer["detail"]
    assert (error["type"], error["code"], error["param"]) == ("validation_error", "missing", "amount")
    assert (error["request_id"][:4], fault["loc"], fault["type"]) == ("req_", ["body", "amount"], "missing")
    assert error["message"] == "amount: This value is required."
    named = kept(api.post("/charges/", {SOURCE_CVC: 1}).content, is_refusal=True)
    assert not holds(named)


def test_what_is_too_long_is_cut_or_left_out_and_says_so() -> None:
    long = kept(json.dumps({"data": [{"amount": 1}] * 520}).encode())
    assert (long[-5:], len(long)) == ("[cut]", MOST_CHARACTERS + 5)
    assert kept(b"x" * (MOST_BYTES + 1)) == "[8,001 bytes]"
    assert kept(b"[" * 7_000) == kept(b"x" * 7_000) == "[7,000 bytes, no JSON]"
    assert kept(b"") == kept_query("") == ""
