"""Every field takes a value or refuses it by a fault, whatever the value is, and no disguise makes an amount."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import get_resolver
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from rest_framework.exceptions import ValidationError
from rest_framework.fields import SkipField

from payments.api.responses.errors import ApiError
from payments.api.validation.fields import Amount
from payments.api.validation.parsers import loads
from payments.api.validation.strict import StrictSerializer
from payments.models import AMOUNT_MAX
from tests.client import Api
from tests.fuzz.inputs.calls import CHARGE
from tests.fuzz.inputs.values import Raw, anything, numbers, texts, written

pytestmark = pytest.mark.long

# Each is not, or not within its bounds, the integer that an amount must be.
DISGUISES = [
    *('"100"', '"１００"', '"١٠٠"', '"1e2"', '"100.0"', '" 100"'),
    *("100.0", "1e2", "1E+2", "1e400", "0.1", "99999999999.5"),
    *("true", "false", "[100]", '{"amount":100}', "0", "-1", "-0", f"{AMOUNT_MAX + 1}", "9" * 30, "9" * 31, "9" * 5000),
    *("0100", "+100", "0x64", "1_00", "100n", "１００", "١٠٠", "NaN", "Infinity", "-Infinity", "1,000", "100.", ".5"),
]


def serializers(kind: type[StrictSerializer] = StrictSerializer) -> Iterator[type[StrictSerializer]]:
    """All that requests are read by; other tests have some of their own."""
    for inner in kind.__subclasses__():
        if not inner.__module__.startswith("tests."):
            yield inner
        yield from serializers(inner)


def members() -> dict[str, tuple[StrictSerializer, str]]:
    assert get_resolver().url_patterns, "which loads the modules of all views"
    made = [kind(context={"livemode": True}) for kind in serializers()]
    return {f"{type(each).__name__}.{name}": (each, name) for each in made for name in each.fields}


MEMBERS = members()


def test_all_requests_are_here() -> None:
    assert {
        "CardInput.number",
        "ChargeInput.amount",
        "CustomerChanges.email",
        "ChargeListQuery.limit",
    } <= MEMBERS.keys()


QUERIES = [name for name in MEMBERS if "Query." in name]
BODIES = [name for name in MEMBERS if name not in QUERIES]
AMOUNTS = [name for name, (each, member) in MEMBERS.items() if isinstance(each.fields[member], Amount)]
# What is given away has no price.
MAY_BE_FREE = {"LineItemInput.amount", "LinkItemInput.amount"}
whatever = settings(deadline=None, suppress_health_check=list(HealthCheck))


def read(value: Any) -> Any:
    """`value` as the parser of bodies gives it to a field."""
    try:
        return loads(written({"value": value}))["value"]
    except ApiError:
        assume(False)


def is_taken(name: str, value: Any) -> bool:
    serializer, member = MEMBERS[name]
    try:
        serializer.fields[member].run_validation(value)
    except ValidationError:
        return False
    except SkipField:
        return value is None
    return True


def errors(names: list[str], value: Any) -> dict[str, str]:
    """Return the members that neither take `value`, each a copy of its own, nor refuse it by a fault."""
    found = {}
    for name in names:
        try:
            is_taken(name, copy.deepcopy(value))
        except Exception as error:  # noqa: BLE001  whatever it raises is the finding
            found[name] = repr(error)
    return found


# Each value is drawn once, and given to every member: drawing takes a hundred times as long as reading.
@whatever
@given(value=anything)
def test_every_member_takes_a_value_or_refuses_it(value: Any) -> None:
    assert errors(BODIES, read(value)) == {}


@whatever
@given(value=texts)
def test_every_parameter_takes_a_text_or_refuses_it(value: str) -> None:
    assert errors(QUERIES, value) == {}


@whatever
@given(value=st.one_of(numbers, texts))
def test_an_amount_is_an_integer_within_its_bounds(value: Any) -> None:
    number = read(value)
    assume(number is not None)
    least = {name: int(name not in MAY_BE_FREE) for name in AMOUNTS}
    right = {name: type(number) is int and least[name] <= number <= AMOUNT_MAX for name in AMOUNTS}
    assert {name: is_taken(name, number) for name in AMOUNTS} == right


def test_a_member_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(value: Any) -> Any:
        raise RuntimeError

    serializer, member = MEMBERS["ChargeInput.amount"]
    monkeypatch.setattr(serializer.fields[member], "run_validation", fail)
    assert errors(BODIES, 1) == {"ChargeInput.amount": "RuntimeError()"}


@pytest.mark.django_db
@pytest.mark.parametrize("disguise", DISGUISES, ids=lambda text: ascii(text)[:20])
def test_no_disguise_of_an_amount_moves_money(api: Api, disguise: str) -> None:
    charge, amount = api.charge(), Raw(disguise.encode())
    for path in (f"/charges/{charge['id']}/refund", f"/charges/{charge['id']}/capture"):
        assert api.post(path, written({"amount": amount})).status_code in (400, 422)
    order = CHARGE | {"source": api.source(), "amount": amount}
    assert api.post("/charges/", written(order)).status_code in (400, 422)
    assert api.read(charge) == charge
