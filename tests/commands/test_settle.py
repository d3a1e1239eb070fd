import re
from datetime import UTC, datetime

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.models import Charge
from tests.charging.elapsed_time import let_time_pass
from tests.client import Api
from tests.commands.conftest import Manage
from tests.ledger.books import charge_fees


def test_nothing_due_shows_a_message(manage: Manage, api: Api) -> None:
    api.charge()
    with clock.at(datetime(2026, 11, 21, 23, 59, tzinfo=UTC)):
        assert manage("settle").startswith("Settled 0 charges. The settlements of 2026-11-21:\n")


def test_each_merchant_mode_and_currency_is_summed_up(manage: Manage, api: Api, shop: NewMerchant) -> None:
    charge_fees(shop.merchant)
    charge = api.charge(amount=123_450)
    api.charge()
    api.post(f"/charges/{charge['id']}/refund", {"amount": 450})
    api.charge(currency="JPY")
    let_time_pass(Charge, "settle_due_at")

    said = manage("settle")

    assert said.startswith("Settled 3 charges.")
    php = r"set_\w{32}  Sari Store  test  2        PHP 1,334\.50  PHP 4\.50  PHP 47\.01  PHP 1,282\.99"
    jpy = r"set_\w{32}  Sari Store  test  1        JPY 10,000    JPY 0     JPY 0      JPY 10,000"
    assert re.search(php, said), said
    assert re.search(jpy, said), said
