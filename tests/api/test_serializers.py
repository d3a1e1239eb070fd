"""The members of requests, one by one and together."""

from datetime import UTC, datetime
from typing import Any

import pytest

from payments import clock, sourcetypes
from payments.api.responses.errors import ApiError
from payments.api.validation import query_fields, serializers
from payments.api.validation.fields import (
    CardNumber,
    NameSafe,
    StrictBoolean,
    StrictInteger,
)
from payments.api.validation.strict import StrictSerializer
from payments.api.views.base import validated

ANY = object()
CARD = {"name": "Juan", "number": "4242424242424242", "exp_month": "12", "exp_year": "2039", "cvc": "123"}
ADDRESS = {"name": "Juan"}


class Outer(StrictSerializer):
    class Inner(StrictSerializer):
        number = CardNumber()
        name = NameSafe(max_length=5, required=False)

    ignored = frozenset({"legacy"})

    inner = Inner()
    amount = StrictInteger(min_value=1, max_value=9, required=False)
    capture = StrictBoolean(default=True)


def faults(serializer_class: type[StrictSerializer], data: Any, **options: Any) -> dict[str, str]:
    """Return the codes of all faults in `data`, by dotted name."""
    try:
        validated(serializer_class, data, **options)
    except ApiError as refused:
        return {fault.name: fault.type for fault in refused.errors}
    return {}


def test_absent_and_null_members_are_left_out_or_take_their_default() -> None:
    inner = {"number": "4242424242424242"}
    expected = {"inner": inner, "capture": True}
    assert validated(Outer, {"inner": inner}) == expected
    assert validated(Outer, {"inner": inner | {"name": None}, "amount": None, "capture": None}) == expected


def test_every_fault_is_reported_at_once() -> None:
    data = {"inner": {"number": "1", "name": "€", "x": 1}, "amount": "1", "captur": False, "legacy": [], "": 1}
    assert faults(Outer, data) == {
        "inner.number": "too_short",
        "inner.name": "pattern",
        "inner.x": "unknown_parameter",
        "amount": "invalid_type",
        "captur": "unknown_parameter",
        "": "unknown_parameter",
    }


@pytest.mark.parametrize("value", [None, ANY])
def test_a_required_member_that_is_null_or_absent_is_missing(value: object) -> None:
    assert faults(Outer, {} if value is ANY else {"inner": value}) == {"inner": "missing"}


@pytest.mark.parametrize("value", ["text", 1, True, []])
def test_a_member_that_must_be_an_object_takes_no_other_type(value: Any) -> None:
    assert faults(Outer, {"inner": value}) == {"inner": "invalid_type"}


def test_no_message_repeats_a_value() -> None:
    secret = "4242424242424241"
    data = {"type": secret, "card": CARD | {"number": secret, "cvc": secret, "name": secret * 9}, secret: secret}
    with pytest.raises(ApiError) as refused:
        validated(serializers.SourceInput, data)
    assert refused.value.errors
    assert secret not in repr(refused.value)


@pytest.mark.parametrize("name", sourcetypes.NAMES)
def test_exactly_a_source_of_type_card_has_a_card(name: str) -> None:
    is_card = name == "card"
    assert faults(serializers.SourceInput, {"type": name}) == ({"card": "missing"} if is_card else {})
    assert faults(serializers.SourceInput, {"type": name, "card": CARD}) == ({} if is_card else {"card": "not_allowed"})


@pytest.mark.parametrize("value", ["PHP", 1, None, {"a": []}])
def test_a_currency_on_a_source_is_ignored(value: Any) -> None:
    assert validated(serializers.SourceInput, {"type": "maya", "currency": value}) == {"type": "maya"}


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"exp_month": "1"}, {}),
        ({"exp_month": "01"}, {}),
        ({"exp_month": "0"}, {"card.exp_month": "pattern"}),
        ({"exp_month": "13"}, {"card.exp_month": "pattern"}),
        ({"exp_month": "012"}, {"card.exp_month": "too_long"}),
        ({"exp_month": 1}, {"card.exp_month": "invalid_type"}),
        ({"exp_year": "39"}, {"card.exp_year": "too_short"}),
        ({"exp_year": "20x9"}, {"card.exp_year": "pattern"}),
        ({"exp_year": "2020"}, {"card.exp_year": "card_expired"}),
        ({"exp_year": "2020", "exp_month": "13"}, {"card.exp_month": "pattern"}),
        ({"cvc": "12"}, {"card.cvc": "too_short"}),
        ({"cvc": "12345"}, {"card.cvc": "too_long"}),
        ({"cvc": "1234"}, {}),
        ({"address_zip": "1" * 51}, {"card.address_zip": "too_long"}),
        ({"address_city": "1" * 255}, {}),
        ({"address_city": None}, {}),
        ({"brand": "visa"}, {"card.brand": "unknown_parameter"}),
    ],
)
def test_a_card_is_checked_member_by_member(members: dict[str, Any], expected: dict[str, str]) -> None:
    assert faults(serializers.SourceInput, {"type": "card", "card": CARD | members}) == expected


def test_a_card_is_good_until_its_last_month_is_over() -> None:
    good, gone = (CARD | {"exp_month": month, "exp_year": "2028"} for month in ("2", "1"))
    with clock.at(datetime(2028, 2, 29, 23, 59, 59, tzinfo=UTC)):
        assert faults(serializers.CardInput, good) == {}
        assert list(faults(serializers.CardInput, gone).values()) == ["card_expired"]


@pytest.mark.parametrize(
    ("notify", "livemode", "expected"),
    [
        ("http://a.example/", False, {}),
        ("http://a.example/", True, {"redirect.notify": "invalid_url"}),
        ("https://a.example/", True, {}),
        ("a", True, {"redirect.notify": "invalid_url"}),
        (None, True, {}),
    ],
)
def test_live_mode_notifies_by_https_alone(notify: str | None, livemode: bool, expected: dict[str, str]) -> None:
    redirect = {"success": "http://a.example/", "fail": "http://a.example/", "notify": notify}
    data = {"type": "gcash", "redirect": redirect}
    assert faults(serializers.SourceInput, data, livemode=livemode) == expected


@pytest.mark.parametrize(
    ("owner", "expected"),
    [
        ({}, {}),
        ({"name": ""}, {}),
        ({"name": "é" * 50}, {}),
        ({"name": "é" * 51}, {"owner.name": "too_long"}),
        ({"address_country": "é🙂"}, {"owner.address_country": "pattern"}),
        ({"billing": ADDRESS, "shipping": ADDRESS}, {}),
        ({"billing": {}}, {"owner.billing.name": "missing"}),
        ({"shipping": ADDRESS | {"city": "a" * 101}}, {"owner.shipping.city": "too_long"}),
        ({"shipping": ADDRESS | {"email": "a"}}, {"owner.shipping.email": "invalid_email"}),
        ({"shipping": ADDRESS | {"line1": "a" * 255, "state": "a" * 51}}, {"owner.shipping.state": "too_long"}),
    ],
)
def test_an_owner_is_checked_member_by_member(owner: dict[str, Any], expected: dict[str, str]) -> None:
    assert faults(serializers.SourceInput, {"type": "gcash", "owner": owner}) == expected


def test_a_charge_takes_its_defaults() -> None:
    least = {"amount": 1, "source": "src_1", "description": "x"}
    defaults = {"currency": "PHP", "capture": True, "require_auth": True}
    assert validated(serializers.ChargeInput, least) == least | defaults


@pytest.mark.parametrize(
    ("serializer_class", "data", "expected"),
    [
        (serializers.ChargeInput, {}, {"amount": "missing", "source": "missing", "description": "missing"}),
        (serializers.CaptureInput, {"amount": 0}, {"amount": "too_small"}),
        (serializers.RefundInput, {"reason": "x" * 256}, {"reason": "too_long"}),
        (serializers.VerifyInput, {"confirmation_id": "1234"}, {"confirmation_id": "too_short", "otp": "missing"}),
        (
            query_fields.ChargeListQuery,
            {"limit": "0", "status": "done"},
            {"limit": "too_small", "status": "invalid_choice"},
        ),
        (query_fields.ChargeListQuery, {"created_at[gt]": "2026-01-01"}, {"created_at[gt]": "unknown_parameter"}),
        (query_fields.EventListQuery, {"start_after": "x" * 256}, {"start_after": "too_long"}),
    ],
)
def test_other_requests_are_checked_by_their_tables(
    serializer_class: type[StrictSerializer], data: dict[str, Any], expected: dict[str, str]
) -> None:
    assert faults(serializer_class, data) == expected
