"""The members of requests, one by one and together."""

from datetime import UTC, datetime
from typing import Any

import pytest

from payments import clock
from payments.api.responses.errors import ApiError
from payments.api.validation import serializers
from payments.api.validation.fields import CardNumber, NameSafe, StrictBoolean, StrictInteger
from payments.api.validation.strict import StrictSerializer
from payments.api.views.base import validated

ANY = object()
CARD = {"name": "Juan", "number": "4242424242424242", "exp_month": "12", "exp_year": "2039", "cvc": "123"}


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


def test_a_card_is_good_until_its_last_month_is_over() -> None:
    good, gone = (CARD | {"exp_month": month, "exp_year": "2028"} for month in ("2", "1"))
    with clock.at(datetime(2028, 2, 29, 23, 59, 59, tzinfo=UTC)):
        assert faults(serializers.CardInput, good) == {}
        assert list(faults(serializers.CardInput, gone).values()) == ["card_expired"]
