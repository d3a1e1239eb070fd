import json
import re
from functools import cache
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import resolve
from openapi_spec_validator import OpenAPIV31SpecValidator

from payments import sourcetypes
from payments.api.schema import document as described
from payments.api.schema.introduction import TEST_CARDS
from tests.concurrency import at_once
from tests.contract.scopes.routes import routes
from tests.openapi.conftest import Document, escaped


@pytest.mark.long
def test_it_is_valid_openapi_3_1(described: Document) -> None:
    assert described.content["openapi"] == "3.1.0"
    OpenAPIV31SpecValidator(described.content).validate()


@pytest.mark.long
def test_it_is_made_without_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("spectacular", validate=True, fail_on_warn=True, format="openapi-json")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("path", ["/v2/openapi.json", "/v2/openapi.json/"])
def test_it_is_served_without_a_key(path: str, client: Client, described: Document) -> None:
    response = client.get(path)
    assert (response.status_code, response["Content-Type"]) == (200, "application/json")
    assert response.json() == described.content


def test_nothing_but_reading_it_is_possible(client: Client) -> None:
    response = client.post("/v2/openapi.json")
    assert response.json()["error"]["code"] == "method_not_allowed"


def test_it_names_the_calls_that_are_routed_and_no_other(described: Document) -> None:
    """The contract's table has each that is routed, and the table of samples the name of each that is described."""
    routed = {(method, route.name) for route in routes() for method in route.actions}
    named = {(method, resolve(re.sub(r"{\w+}", "x", path)).view_name) for method, path in described.operations()}
    assert named - routed == {("GET", resolve("/ping").view_name)}
    assert routed - named == set()


def test_its_server_is_the_public_address(described: Document, settings: Any) -> None:
    assert described.content["servers"] == [{"url": settings.PUBLIC_URL}]


def test_every_call_can_be_looked_up_by_its_id(described: Document) -> None:
    names = [operation["operationId"] for operation in described.operations().values()]
    assert len(set(names)) == len(names)


def test_every_post_takes_an_idempotency_key(described: Document) -> None:
    for (method, path), operation in described.operations().items():
        names = [parameter["name"] for parameter in operation.get("parameters", [])]
        assert ("Idempotency-Key" in names) == (method == "POST"), path


def test_every_call_with_a_key_may_be_refused(described: Document) -> None:
    for (method, path), operation in described.operations().items():
        is_open = path.startswith("/v2/sources")
        # Clients of checkouts know a 400 for bad members.
        invalid = "400" if path.startswith(("/v2/checkout", "/v2/payment_")) else "422"
        expected = {"401", invalid, "429", "500"} | (set() if is_open else {"403"})
        expected |= {"404"} if "{" in path else set()
        expected |= set() if method == "GET" else {"400", "413", "415"}
        assert path == "/ping" or expected <= operation["responses"].keys(), (method, path)


def test_every_member_is_explained(described: Document) -> None:
    schemas = described.content["components"]["schemas"]
    unexplained = [
        f"{name}.{member}"
        for name, schema in schemas.items()
        for member, form in schema.get("properties", {}).items()
        if not form.get("description")
    ]
    assert unexplained == []


def test_every_parameter_is_explained(described: Document) -> None:
    for operation in described.operations().values():
        assert all(parameter.get("description") for parameter in operation.get("parameters", []))


def test_a_default_is_said_in_words_because_generators_read_the_keyword_differently(described: Document) -> None:
    schemas = described.content["components"]["schemas"]
    assert [name for name, schema in schemas.items() if '"default":' in json.dumps(schema)] == []
    members = {name: schema.get("properties", {}) for name, schema in schemas.items()}
    assert (
        members["ChargeInput"]["currency"]["description"]
        == "ISO 4217 code of three letters, in any case. Default: `PHP`."
    )
    assert members["ChargeInput"]["capture"]["description"].endswith(" Default: `true`.")
    assert members["RefundInput"]["reason"]["description"].endswith(" Default: `requested_by_customer`.")
    assert "Default" not in members["Charge"]["currency"]["description"]


def test_requests_are_closed(described: Document) -> None:
    schemas = described.content["components"]["schemas"]
    open_ones = [
        name
        for name, schema in schemas.items()
        if name.endswith(("Input", "Changes", "Nothing")) and schema.get("additionalProperties") is not False
    ]
    assert open_ones == []


def test_every_example_fits_what_it_is_an_example_of(described: Document) -> None:
    pointers = [pointer for pointer in _media_types(described) if pointer]
    assert len(pointers) > 80
    for pointer, media_type in _media_types(described):
        for name, example in media_type.get("examples", {}).items():
            assert described.faults(f"{pointer}/schema", example["value"]) == [], (pointer, name)


def _media_types(described: Document) -> list[tuple[str, dict[str, Any]]]:
    found = [
        (f"/components/responses/{name}", response)
        for name, response in described.content["components"]["responses"].items()
    ]
    for (method, path), operation in described.operations().items():
        at = f"/paths/{escaped(path)}/{method.lower()}"
        found += [(f"{at}/responses/{status}", response) for status, response in operation["responses"].items()]
        found += [(f"{at}/requestBody", operation["requestBody"])] if "requestBody" in operation else []
    json_type = escaped("application/json")
    return [
        (f"{at}/content/{json_type}", part["content"]["application/json"])
        for at, part in found
        if "application/json" in part.get("content", {})
    ]


def test_it_shows_no_card_numbers_but_test_cards(described: Document) -> None:
    shown = set(re.findall(r"(?<![0-9a-f])[0-9]{13,19}(?![0-9a-f])", str(described.content)))
    listed = {number for numbers, _ in TEST_CARDS for number in numbers.split(", ")}
    assert shown == listed


def test_its_introduction_names_every_way_to_pay(described: Document) -> None:
    text = described.content["info"]["description"]
    assert all(f"| `{kind.name}` | {kind.kind} | {kind.label} |" in text for kind in sourcetypes.SOURCE_TYPES)


def test_it_is_generated_once_where_threads_ask_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What generates it fails in a thread that comes while another thread has only begun."""
    made = list[int]()

    class Generator:
        def get_schema(self, public: bool) -> dict[str, bool]:
            made.append(len(made))
            return {"public": public}

    monkeypatch.setattr(described, "SchemaGenerator", Generator)
    monkeypatch.setattr(described, "_generated", cache(described._generated.__wrapped__))
    assert at_once(3, lambda _: described.document()) == [b'{"public":true}'] * 3
    assert made == [0]
