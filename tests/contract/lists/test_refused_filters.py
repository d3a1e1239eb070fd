"""Filters of lists that nothing can match, which are refused in place of answered with nothing."""

from itertools import product

import pytest

from payments.db.checks import RowRules
from payments.domain.charging.state_machine import FLAGS, Flags
from payments.models import Charge
from tests.client import Api, error_of
from tests.contract.calls import faults_of

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("path", "query", "faulty"),
    [
        ("charges", {"status": "failed", "captured": "true"}, "captured"),
        ("charges", {"status": "succeeded", "authorized": "true", "captured": "true"}, "captured"),
        ("charges", {"authorized": "true", "captured": "true"}, "captured"),
        ("charges", {"status": "refunded", "authorized": "true"}, "authorized"),
        ("charges", {"status": "refunded", "captured": "false"}, "captured"),
        ("charges", {"source": "nonsense"}, "source"),
        ("charges", {"source": "cus_" + "0" * 32}, "source"),
        ("charges", {"customer": "src_" + "0" * 32}, "customer"),
        ("charges", {"created_at[gte]": "2026-01-02", "created_at[lt]": "2026-01-02"}, "created_at[lt]"),
        ("charges", {"created_at[gte]": "2099-01-01"}, "created_at[gte]"),
        ("charges", {"created_at[gte]": "1969-12-31"}, "created_at[gte]"),
        ("charges", {"created_at[lt]": "1970-01-01"}, "created_at[lt]"),
        ("events", {"type": "nope"}, "type"),
        ("events", {"object": "nope"}, "object"),
        ("events", {"object": "evt_" + "0" * 32}, "object"),
        ("events", {"object": "ch_" + "0" * 31}, "object"),
        ("events", {"object": "ch_" + "0" * 32, "type": "customer.created"}, "type"),
        ("customers", {"email": "nobody"}, "email"),
    ],
)
def test_what_can_never_match_is_refused(api: Api, path: str, query: dict[str, str], faulty: str) -> None:
    answer = api.get(f"/{path}/", **query)
    assert faults_of(answer).keys() == {faulty}
    assert answer.json()["error"]["param"] == faulty


def test_an_impossible_combination_is_answered_with_the_possible_values(api: Api) -> None:
    answer = api.get("/charges/", status="failed", captured="true")
    assert error_of(answer)["errors"] == {"captured": ["Of charges with status failed, captured can only be false."]}


def test_the_flags_of_a_charge_are_those_that_the_database_lets_be_stored() -> None:
    [rules] = [each.rules for each in Charge._meta.constraints if isinstance(each, RowRules)]
    rule = rules["charge_flags_match_status"]
    amounts = [{"amount_captured": 2, "amount_refunded": refunded} for refunded in (1, 2)]
    stored = {
        Flags(status, authorized=authorized, captured=captured)
        for status, authorized, captured in product(Charge.Status.values, [True, False], [True, False])
        for amount in amounts
        if rule.check({"status": status, "authorized": authorized, "captured": captured} | amount)
    }
    assert stored == set(FLAGS)
