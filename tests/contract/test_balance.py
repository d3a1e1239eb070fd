"""What a merchant has, in each currency: available, pending, held."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from payments.domain.merchants.merchants import NewMerchant
from payments.models import Posting
from tests.charging.lateness import settle_refunds
from tests.client import REFUNDS_FAIL, Api, error_of, made
from tests.ledger.books import charge_fees, settle
from tests.plans import scans_of

NOTHING = {"available": 0, "pending": 0, "reserved": 0, "held": 0}


def balance(api: Api, currency: str = "PHP") -> dict[str, int]:
    """Return the amounts of one currency by the name of their list."""
    shown = made(api.get("/balance"))
    return {name: entry["amount"] for name in NOTHING for entry in shown[name] if entry["currency"] == currency}


def test_an_account_without_any_movement_has_nothing_in_pesos(api: Api) -> None:
    nothing = [{"amount": 0, "currency": "PHP"}]
    assert made(api.get("/balance")) == {
        "object": "balance",
        "livemode": False,
        **dict.fromkeys(NOTHING, nothing),
    }


def test_money_is_held_then_pending_then_available(api: Api, shop: NewMerchant) -> None:
    charge_fees(shop.merchant)
    charge = api.held()
    assert balance(api) == NOTHING | {"held": 10_000}

    made(api.post(f"/charges/{charge['id']}/capture", {"amount": 4_000}))
    assert balance(api) == NOTHING | {"pending": 4_000 - 155}

    settle()
    assert balance(api) == NOTHING | {"available": 4_000 - 155}


def test_a_voided_charge_leaves_nothing(api: Api, shop: NewMerchant) -> None:
    charge_fees(shop.merchant)
    for charge in (api.held(), api.charge()):
        made(api.post(f"/charges/{charge['id']}/void"))
    assert balance(api) == NOTHING


def test_a_refund_is_taken_off_at_once_and_comes_back_if_it_fails(api: Api) -> None:
    charge = api.charge(REFUNDS_FAIL)
    made(api.post(f"/charges/{charge['id']}/refund", {"amount": 4_000}))
    assert balance(api) == NOTHING | {"pending": 6_000}
    settle()
    assert balance(api) == NOTHING | {"available": 6_000}
    settle_refunds()
    assert balance(api) == NOTHING | {"available": 10_000}


def test_a_merchant_that_refunded_more_than_it_was_left_with_owes_the_fee(api: Api, shop: NewMerchant) -> None:
    charge_fees(shop.merchant)
    charge = api.charge()
    made(api.post(f"/charges/{charge['id']}/refund"))
    assert balance(api) == NOTHING | {"pending": -365}


def test_every_currency_that_was_ever_used_is_shown(api: Api) -> None:
    api.charge(currency="JPY", amount=700)
    voided = api.charge(currency="USD")
    made(api.post(f"/charges/{voided['id']}/void"))
    shown = made(api.get("/balance"))
    assert [[entry["currency"] for entry in shown[name]] for name in NOTHING] == [["JPY", "PHP", "USD"]] * 4
    assert balance(api, "JPY") == NOTHING | {"pending": 700}


@pytest.mark.parametrize("asker", ["other_api", "live_api"])
def test_nobody_sees_another_merchants_money_or_that_of_the_other_mode(
    request: pytest.FixtureRequest, api: Api, asker: str
) -> None:
    api.charge()
    other: Api = request.getfixturevalue(asker)
    assert balance(other) == NOTHING
    assert made(other.get("/balance"))["livemode"] == (asker == "live_api")


def test_a_publishable_key_may_not_read_the_balance(shop: NewMerchant) -> None:
    refusal = Api(shop.keys["pk_test"]).get("/balance")
    assert (refusal.status_code, error_of(refusal)["code"]) == (403, "secret_key_required")


def test_it_is_one_statement_that_reads_no_posting(api: Api) -> None:
    api.charge()
    copy_the_journal(times=2_000)
    with CaptureQueriesContext(connection) as captured:
        made(api.get("/balance"))
    assert not [query["sql"] for query in captured if "payments_posting" in query["sql"]]
    [sql] = [query["sql"] for query in captured if "payments_runningbalance" in query["sql"]]
    [scan] = scans_of(sql)
    assert scan["Actual Rows"] <= 16
    assert balance(api) == NOTHING | {"pending": 2_001 * 10_000}


def copy_the_journal(times: int) -> None:
    """Post the only journal again and again."""
    names = ", ".join(field.column for field in Posting._meta.concrete_fields if field.name not in ("id", "journal"))
    run(
        f"""WITH new AS MATERIALIZED (SELECT gen_random_uuid() AS uuid FROM generate_series(1, {times}))
            INSERT INTO payments_posting (id, journal, {names})
            SELECT gen_random_uuid(), new.uuid, {names} FROM payments_posting, new"""
    )


def run(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)
