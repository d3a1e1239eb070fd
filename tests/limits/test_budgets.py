"""Limits of declines: from the settings, and from a merchant's own budget."""

import pytest
from django.core.management import CommandError
from django.db import IntegrityError, connection
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from config.boot.environment import Environment
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.risk.decline_limits import BUDGET_MAX, quotas
from payments.models import AuditEntry, Merchant
from tests.client import DECLINED, Api
from tests.commands.conftest import Manage, manage
from tests.contract.calls import order
from tests.high_limits import MANY_DECLINES

__all__ = ["manage"]
budgets = st.integers(1, BUDGET_MAX)
USUAL = {"card": 10, "address": 100, "key": 150, "merchant": 200}


def test_live_mode_allows_fewer_declines_than_test_mode(settings: Settings) -> None:
    live, test = quotas(True, None), quotas(False, None)
    assert (live, test) == (settings.DECLINE_LIMITS, settings.DECLINE_LIMITS_TEST)
    assert all(live[kind] < test[kind] for kind in live)


@given(budget=budgets)
def test_with_a_budget_of_its_own_a_merchants_keys_and_addresses_keep_their_shares(budget: int) -> None:
    own = quotas(True, budget)
    assert (own["card"], own["merchant"]) == (10, budget)
    assert [own["address"], own["key"]] == [max(1, budget // 2), max(1, budget * 3 // 4)]


@given(less=budgets, more=budgets)
def test_a_higher_budget_lowers_no_limit(less: int, more: int) -> None:
    less, more = sorted((less, more))
    assert all(number >= quotas(True, less)[kind] for kind, number in quotas(True, more).items())


def refused_after(api: Api) -> int:
    """Return how many declines are answered before a request is refused."""
    answered = 0
    while api.post("/charges/", order(api.source(DECLINED))).status_code == 201:
        answered += 1
    return answered


def test_a_budget_is_set_and_taken_back(
    manage: Manage,
    api: Api,
    other_shop: NewMerchant,
    settings: Settings,
) -> None:
    settings.DECLINE_LIMITS_TEST = MANY_DECLINES | {"merchant": 3}
    ended = f"declines are borne in {settings.DECLINE_WINDOW_MINUTES} minutes.\n"
    assert manage("merchant", "set-decline-budget", "Sari Store", 5) == f"From now on 5 {ended}"
    assert refused_after(api) == 5
    assert refused_after(Api(other_shop.keys["sk_test"])) == 3
    output = manage("merchant", "set-decline-budget", "Sari Store", "--usual")
    assert output == f"From now on the usual number of {ended}"
    assert Merchant.objects.get(title="Sari Store").decline_budget is None


def test_a_higher_budget_opens_a_window_that_was_closed(
    manage: Manage,
    api: Api,
    settings: Settings,
) -> None:
    settings.DECLINE_LIMITS_TEST = MANY_DECLINES | {"merchant": 1}
    assert refused_after(api) == 1
    manage("merchant", "set-decline-budget", "Sari Store", 3)
    assert refused_after(api) == 2


def test_a_changed_budget_is_in_the_audit_log(manage: Manage, shop: NewMerchant) -> None:
    manage("merchant", "set-decline-budget", "Sari Store", 5)
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.object_id, entry.fields) == ("changed", str(shop.merchant.id), ["decline_budget"])


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "Give a number, or --usual alone."),
        (["5", "--usual"], "Give a number, or --usual alone."),
        (["0"], "from 1 to 1000000"),
        (["1000001"], "from 1 to 1000000"),
        (["many"], "is not a whole number in digits alone"),
    ],
)
def test_a_budget_that_cannot_be_is_refused_in_one_clear_line(
    manage: Manage,
    shop: NewMerchant,
    arguments: list[str],
    complaint: str,
) -> None:
    with pytest.raises(CommandError) as refusal:
        manage("merchant", "set-decline-budget", "Sari Store", *arguments)
    assert complaint in str(refusal.value)


def test_a_budget_of_zero_is_refused(shop: NewMerchant) -> None:
    with pytest.raises(IntegrityError, match="merchant_bears_some_declines"), connection.cursor() as cursor:
        cursor.execute("UPDATE payments_merchant SET decline_budget = 0")


def test_missing_limits_have_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DECLINE_LIMITS", "card=3, merchant=500")
    env = Environment()
    assert env.counts("DECLINE_LIMITS", USUAL) == USUAL | {"card": 3, "merchant": 500}
    assert env.faults == {}


@pytest.mark.parametrize(
    "text", ["card", "card=", "card=0", "card=-1", "card=1.5", "card=٣", "cards=3", "=3", "card=3=4"]
)
def test_malformed_limits_are_reported_and_replaced_by_defaults(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("DECLINE_LIMITS", text)
    env = Environment()
    assert env.counts("DECLINE_LIMITS", USUAL) == USUAL
    assert env.faults["DECLINE_LIMITS"].endswith("such as card=10,address=100,key=150,merchant=200.")
