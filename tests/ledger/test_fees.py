"""Fees: integers, fixed when a charge is created, and never an obstacle to a charge."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from payments.domain.merchants import terms
from payments.domain.merchants.merchants import NewMerchant
from payments.ledger.fees import BASIS_POINTS, BadRate, Rate, fee_of, rate_of
from payments.models import AMOUNT_MAX
from tests.charging.elapsed_time import recover
from tests.client import CHALLENGED, Api, made
from tests.contract.calls import debit
from tests.ledger.books import row_of, standing

AMOUNTS = st.integers(1, AMOUNT_MAX)
RATES = st.builds(Rate, st.integers(0, BASIS_POINTS), st.integers(0, AMOUNT_MAX))


@given(AMOUNTS, RATES)
def test_a_fee_is_never_below_nothing_or_above_the_amount(amount: int, rate: Rate) -> None:
    assert 0 <= fee_of(amount, rate) <= amount


@given(AMOUNTS, st.integers(0, BASIS_POINTS))
def test_a_share_is_right_to_half_of_the_smallest_unit(amount: int, basis_points: int) -> None:
    doubled = 2 * (fee_of(amount, Rate(basis_points)) * BASIS_POINTS - amount * basis_points)
    assert -BASIS_POINTS < doubled <= BASIS_POINTS


@pytest.mark.parametrize(
    ("amount", "rate", "fee"),
    [
        (10_000, Rate(350, 15), 365),
        (10_000, Rate(), 0),
        (1, Rate(0, 15), 1),
        (100, Rate(50), 1),
        (99, Rate(50), 0),
        (AMOUNT_MAX, Rate(BASIS_POINTS, AMOUNT_MAX), AMOUNT_MAX),
    ],
)
def test_a_fee_is_a_share_and_a_fixed_amount(amount: int, rate: Rate, fee: int) -> None:
    assert fee_of(amount, rate) == fee


@pytest.mark.parametrize("bad", [-1, BASIS_POINTS + 1, 3.5, "350", True, None], ids=repr)
def test_a_share_that_is_no_whole_number_in_bounds_is_refused(bad: Any) -> None:
    with pytest.raises(BadRate, match="basis points must be a whole number from 0 to 10000"):
        Rate(bad)


@pytest.mark.parametrize("bad", [-1, AMOUNT_MAX + 1, 0.15, "15", False], ids=repr)
def test_a_fixed_amount_that_is_no_whole_number_in_bounds_is_refused(bad: Any) -> None:
    with pytest.raises(BadRate, match="fixed amount must be a whole number from 0 to 99999999999"):
        Rate(0, bad)


@pytest.mark.parametrize(
    ("source_type", "currency", "rate"),
    [("card", "PHP", Rate(350, 15)), ("card", "JPY", Rate()), ("gcash", "PHP", Rate())],
)
def test_a_rate_is_of_one_type_and_currency(source_type: str, currency: str, rate: Rate) -> None:
    rates = {"card": {"PHP": {"basis_points": 350, "fixed": 15}}, "gcash": {}}
    assert rate_of(rates, source_type, currency) == rate


def test_a_charge_keeps_the_rate_that_it_was_made_at(api: Api, shop: NewMerchant) -> None:
    terms.set_fee(shop.merchant, "card", "PHP", Rate(350, 15))
    held = api.held()
    terms.set_fee(shop.merchant, "card", "PHP", Rate(1_000))

    made(api.post(f"/charges/{held['id']}/capture", {"amount": 1_000}))

    row = row_of(held)
    assert (row.fee_basis_points, row.fee_fixed, row.fee) == (350, 15, 50)
    assert standing()["fees"] == -50


def test_a_change_of_a_rate_lets_charges_of_the_merchant_through(shop: NewMerchant) -> None:
    # A charge refers to its merchant, and waits for any stronger lock.
    with CaptureQueriesContext(connection) as queries:
        terms.set_fee(shop.merchant, "card", "PHP", Rate(350))
    assert not any(query["sql"].endswith("FOR UPDATE") for query in queries)


def test_recording_an_outcome_reads_no_rates(api: Api, shop: NewMerchant) -> None:
    terms.set_fee(shop.merchant, "bpi", "PHP", Rate(350, 15))
    charge = debit(api)
    terms.remove_fee(shop.merchant, "bpi", "PHP")
    confirmation = {"confirmation_id": charge["action"]["confirmation_id"], "otp": "123456"}
    assert made(api.post(f"/charges/{charge['id']}/verify", confirmation))["captured"]
    assert standing()["fees"] == -365


def test_an_uncaptured_charge_has_no_fee(api: Api, shop: NewMerchant) -> None:
    terms.set_fee(shop.merchant, "card", "PHP", Rate(350, 15))
    for charge in (api.held(), api.charge(CHALLENGED), api.charge("4000000000005118")):
        recover()
        assert row_of(charge).fee == 0
    assert "fees" not in standing()


def test_the_api_shows_no_fee_of_a_charge(api: Api, shop: NewMerchant) -> None:
    terms.set_fee(shop.merchant, "card", "PHP", Rate(350, 15))
    assert not [name for name in api.charge() if "fee" in name]
