"""What the document says of requests is what the code does with them."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator
from rest_framework.exceptions import ValidationError
from rest_framework.fields import SkipField

from customers.api import serializers as customer_bodies
from payments.api.validation import checkout, payment_requests, webhook_endpoints
from payments.api.validation import evidence as evidence_bodies
from payments.api.validation import serializers as bodies
from payments.api.validation.metadata import Metadata
from payments.api.validation.query_fields import FeedQuery
from payments.api.validation.strict import StrictSerializer
from payments.money import CURRENCIES
from payments.rendering.objects.member import ID_DIGITS
from tests.openapi.conftest import Document

BODIES: dict[str, type[StrictSerializer]] = {
    name: body
    for room in (bodies, checkout, customer_bodies, evidence_bodies, payment_requests, webhook_endpoints)
    for name, body in vars(room).items()
    if isinstance(body, type) and issubclass(body, StrictSerializer) and name.endswith(("Input", "Changes"))
    if not body.__subclasses__()
}
OPTIONAL = [
    (name, member) for name, body in BODIES.items() for member, field in body().fields.items() if not field.required
]


def takes(field: Any, value: Any) -> bool:
    try:
        field.run_validation(value)
    except ValidationError:
        return False
    except SkipField:
        return True
    return True


def test_null_is_the_same_as_leaving_an_optional_member_out(described: Document) -> None:
    for name, member in OPTIONAL:
        assert described.faults(f"/components/schemas/{name}/properties/{member}", None) == []
        assert takes(BODIES[name]().fields[member], None), (name, member)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("SourceInput", {"type": "gcash", "card": None}),
        ("SourceInput", {"type": "card", "card": None}),
        ("SourceInput", {"type": "card"}),
        ("EvidenceInput", {"type": "other", "text": "x", "file": None}),
        ("EvidenceInput", {"type": "other", "text": None}),
        ("EvidenceInput", {"type": "other", "text": " \n"}),
        ("EvidenceInput", {"type": "other", "file": "JVBERi0xLjc="}),
        ("EvidenceInput", {"type": "other", "file": "R0lGODlh"}),
        ("EvidenceInput", {"type": "other", "text": "x", "file": "JVBERi0xLjc="}),
        ("CustomerChanges", {"mobile_number": ""}),
        ("CustomerChanges", {"mobile_number": "1234"}),
        ("CustomerChanges", {"mobile_number": "12345"}),
    ],
)
def test_the_document_and_the_code_take_the_same_bodies(described: Document, name: str, body: dict[str, Any]) -> None:
    assert (described.faults(f"/components/schemas/{name}", body) == []) == takes(BODIES[name](), body)


@pytest.mark.parametrize("name", ["", "x", "x" * 40, "x" * 41])
@pytest.mark.parametrize("depth", range(5))
@pytest.mark.parametrize("is_list", [False, True])
def test_names_in_metadata_have_the_same_bounds_at_every_depth(
    described: Document, name: str, depth: int, is_list: bool
) -> None:
    value: Any = {name: 1}
    for _ in range(depth):
        value = [value] if is_list else {"a": value}
    value = value if isinstance(value, dict) else {"a": value[0]}
    faults = described.faults("/components/schemas/ChargeInput/properties/metadata", value)
    assert (faults == []) == takes(Metadata(), value)


@pytest.mark.parametrize("code", ["PH", "PHPP", "P.P", "PHP ", "php", "PHP"])
def test_a_currency_has_the_same_form(described: Document, code: str) -> None:
    form = described.content["components"]["schemas"]["ChargeInput"]["properties"]["currency"]
    assert Draft202012Validator(form).is_valid(code) == (code.upper() in CURRENCIES)


def test_every_currency_has_the_form(described: Document) -> None:
    form = described.content["components"]["schemas"]["ChargeInput"]["properties"]["currency"]
    assert [code for code in CURRENCIES if not Draft202012Validator(form).is_valid(code)] == []


def test_parameters_that_are_refused_together_name_each_other(described: Document) -> None:
    parameters = described.operations()[("GET", "/v2/events/")]["parameters"]
    descriptions = {parameter["name"]: parameter["description"] for parameter in parameters}
    assert "`start_after`" in descriptions["ending_before"]
    assert all(word in descriptions["object"] for word in ("`ending_before`", "`wait`"))
    assert not takes(FeedQuery(), {"ending_before": "a", "start_after": "b"})


def test_an_answer_links_to_what_can_follow(described: Document) -> None:
    links = described.operations()[("POST", "/v2/charges/")]["responses"]["201"]["links"]
    verbs = ("retrieve", "capture", "void", "refund", "verify")
    assert {f"{verb}_charge" for verb in verbs} | {"list_disputes"} <= links.keys()
    assert links["refund_charge"] == {"operationId": "refund_charge", "parameters": {"id": "$response.body#/id"}}
    made = described.operations()[("POST", "/v2/sources/")]["responses"]["200"]["links"]
    assert made["create_charge"]["requestBody"] == {"source": "$response.body#/id"}


def test_an_answer_leads_to_the_other_objects_that_it_names(described: Document) -> None:
    links = described.operations()[("GET", "/v2/disputes/{id}")]["responses"]["200"]["links"]
    assert links["retrieve_charge"]["parameters"] == {"id": "$response.body#/charge"}
    assert "void_charge" not in links


def test_every_operation_on_an_object_is_linked_from_where_it_is_made_or_read(described: Document) -> None:
    operations = described.operations()
    linked = {
        name
        for operation in operations.values()
        for answer in operation["responses"].values()
        for name in answer.get("links", ())
    }
    taking = {
        operation["operationId"]
        for operation in operations.values()
        for parameter in operation.get("parameters", ())
        if parameter["in"] == "path" and ID_DIGITS in parameter["schema"].get("pattern", "")
    }
    # Nothing but lists shows these, and a kept source is one of several.
    of_lists = {"retrieve_payout", "list_payout_transactions", "retrieve_balance_transaction", "retrieve_event"}
    assert taking - linked <= of_lists | {"retrieve_request", "detach_source"}
