"""Dispute rates, as the card networks count them."""

from datetime import timedelta

import pytest
from pytest_django.fixtures import Settings

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.ids import new_id
from payments.models import Charge, DayTotal, Dispute, Merchant
from payments.overview.dispute_rates import high_rates, months_of
from tests.factories import ChargeFactory

THIS_MONTH = clock.now().replace(day=1, hour=12)
LAST_MONTH = (THIS_MONTH - timedelta(days=2)).replace(day=1)


@pytest.fixture(autouse=True)
def _low_limits(settings: Settings) -> None:
    settings.DISPUTE_WARNING = {"basis_points": 65, "disputes": 2}


def made_charges(merchant: Merchant, moment: clock.datetime, count: int, **members: object) -> None:
    """Note so many approved charges, of 1,000 together."""
    given = {"currency": "PHP", "source_type": "card", "provider": "adyen", "outcome": "approved", **members}
    DayTotal.objects.create(day=moment.date(), merchant=merchant, livemode=True, count=count, amount=1_000, **given)


def make_disputes(merchant: Merchant, moment: clock.datetime, count: int, money_stage: int = 30) -> None:
    """Have so many charges of 100 disputed."""
    for number in range(count):
        charge: Charge = ChargeFactory(merchant=merchant, livemode=True, is_captured=True, amount=100)
        Dispute.objects.create(
            id=new_id(moment),
            merchant=merchant,
            livemode=True,
            charge=charge,
            provider_ref=f"D{number}",
            amount=100,
            currency="PHP",
            reason="general",
            stage=max(money_stage, 10),
            money_stage=money_stage,
            status="needs_response" if money_stage else "warning",
            withdrawn=bool(money_stage),
            created_at=moment,
        )


def test_disputes_are_compared_with_the_charges_of_their_month_and_of_the_month_before(shop: NewMerchant) -> None:
    made_charges(shop.merchant, LAST_MONTH, 1_000)
    made_charges(shop.merchant, THIS_MONTH, 400)
    make_disputes(shop.merchant, THIS_MONTH, 2)
    [month] = months_of(shop.merchant.id, livemode=True)
    assert month.rates == (50, 20)
    assert (month.disputes.count, month.disputes.amounts) == (2, {"PHP": 200})


def test_charges_that_are_declined_or_not_of_cards_are_not_counted(shop: NewMerchant) -> None:
    made_charges(shop.merchant, THIS_MONTH, 100)
    made_charges(shop.merchant, THIS_MONTH, 100, outcome="declined")
    made_charges(shop.merchant, THIS_MONTH, 100, source_type="gcash")
    make_disputes(shop.merchant, THIS_MONTH, 1)
    [month] = months_of(shop.merchant.id, livemode=True)
    assert month.rates == (100, None)


def test_an_inquiry_is_no_dispute_to_the_networks(shop: NewMerchant) -> None:
    make_disputes(shop.merchant, THIS_MONTH, 2, money_stage=0)
    assert months_of(shop.merchant.id, livemode=True) == []


@pytest.mark.parametrize(("charges", "is_high"), [(307, True), (400, False)])
def test_operators_are_warned_from_the_threshold_on(shop: NewMerchant, charges: int, is_high: bool) -> None:
    made_charges(shop.merchant, THIS_MONTH, charges)
    make_disputes(shop.merchant, THIS_MONTH, 2)
    assert [merchant for merchant, _ in high_rates(None)] == ([shop.merchant.id] if is_high else [])


def test_a_few_disputes_of_a_small_merchant_are_no_warning(shop: NewMerchant) -> None:
    made_charges(shop.merchant, THIS_MONTH, 1)
    make_disputes(shop.merchant, THIS_MONTH, 1)
    assert high_rates(None) == []


def test_an_operator_is_warned_of_no_other_merchants(shop: NewMerchant, other_shop: NewMerchant) -> None:
    made_charges(shop.merchant, THIS_MONTH, 1)
    make_disputes(shop.merchant, THIS_MONTH, 2)
    assert high_rates([other_shop.merchant.id]) == []
    assert len(high_rates([shop.merchant.id])) == 1
