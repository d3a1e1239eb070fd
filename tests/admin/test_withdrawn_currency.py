"""A charge in a currency that ISO 4217 withdraws afterwards: what kaha is when it is started again.

The package `iso4217` is copied without the currency in front of the installed one, as an update would leave it.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import iso4217
import pytest
from django.urls import reverse

from payments.domain.merchants import terms
from payments.domain.merchants.merchants import NewMerchant
from payments.embedded.folders import PROJECT
from payments.models import PayoutSchedule
from payments.money import CURRENCIES, DECIMALS, KNOWN_CURRENCIES
from tests.admin.conftest import the_operator
from tests.client import REFUNDS_WAIT, Api, made
from tests.ledger.books import charge_fees, settle
from tests.payouts.stories import give_account, give_schedule
from tests.reconciliation.factories import reconcile
from tests.support.worker import database_url

GONE = "SLE"
AMOUNT = 123_450
# Does what it reads from its input, and prints what came of it.
AFTERWARDS = """
import json, sys, django
django.setup()
from django.contrib.auth.models import User
from django.test import Client
from django.test.utils import setup_test_environment
from payments.tasks import run_sweep
from tests.client import Api
setup_test_environment()
asked, found = json.load(sys.stdin), {}
operator = Client(raise_request_exception=False)
operator.force_login(User.objects.get(username="operator"))
for name in asked.get("sweeps", ()):
    run_sweep(name)
for address in asked.get("get", ()):
    answer = operator.get(address)
    found[address] = [answer.status_code, answer.getvalue().decode(errors="replace")]
for address, form in asked.get("post", {}).items():
    answer = operator.post(address, form, follow=True)
    found[address] = [answer.status_code, answer.getvalue().decode(errors="replace")]
for path, body in asked.get("api", {}).items():
    api = Api(asked["key"])
    answer = api.get(path) if body is None else api.post(path, body)
    found[path] = [answer.status_code, answer.content.decode()]
print(json.dumps(found))
"""
Afterwards = Callable[..., dict[str, Any]]


@pytest.fixture
def afterwards(tmp_path: Path) -> Afterwards:
    """Return what asks a kaha that knows the currency no more; it returns status and text of each answer."""
    package = Path(iso4217.__file__).parent
    shutil.copytree(package, tmp_path / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    table = tmp_path / package.name / "table.xml"
    entries = re.compile(rf"<CcyNtry>(?:(?!</CcyNtry>).)*<Ccy>{GONE}</Ccy>.*?</CcyNtry>", re.DOTALL)
    text, count = entries.subn("", table.read_text(encoding="utf-8"))
    assert count
    table.write_text(text, encoding="utf-8")

    def ask(**asked: Any) -> dict[str, Any]:
        environment = os.environ | {"DATABASE_URL": database_url(), "PYTHONPATH": f"{tmp_path}{os.pathsep}{PROJECT}"}
        done = subprocess.run(
            [sys.executable, "-c", AFTERWARDS],
            input=json.dumps(asked),
            env=environment | {"DJANGO_SETTINGS_MODULE": "config.settings"},
            cwd=PROJECT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return dict(json.loads(done.stdout.splitlines()[-1]))

    return ask


@pytest.fixture
def sold(shop: NewMerchant, api: Api) -> dict[str, Any]:
    """Return a charge in the currency that is captured, settled, refunded in part and reported, with a payout due."""
    charge_fees(shop.merchant, terms.Rate(350, 15), GONE)
    charge = api.charge(REFUNDS_WAIT, AMOUNT, currency=GONE, capture=False)
    made(api.post(f"/charges/{charge['id']}/capture"))
    settle()
    made(api.post(f"/charges/{charge['id']}/refund", {"amount": 450}))
    reconcile()
    give_account(shop.merchant, currency=GONE)
    give_schedule(shop.merchant, currency=GONE)
    the_operator()
    return charge


def page(name: str, *args: object, **query: str) -> str:
    return reverse(f"admin:{name}", args=args, query=query)


def test_the_decimals_of_every_currency_of_the_package_are_kept() -> None:
    decimals = {each.code: each.exponent or 0 for each in iso4217.Currency}
    assert {code: DECIMALS.get(code) for code in decimals} == decimals


def test_every_currency_of_the_package_that_has_a_smallest_unit_is_taken() -> None:
    assert {each.code for each in iso4217.Currency if each.exponent is not None} == CURRENCIES


def test_currencies_that_were_withdrawn_are_known_and_not_taken() -> None:
    withdrawn = {"HRK", "SLL", "ZWL", "ANG", "BGN", "MRO", "STD", "VEF", "LTL", "EEK", "DEM"}
    assert withdrawn <= KNOWN_CURRENCIES
    assert not withdrawn & CURRENCIES


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_every_page_shows_the_amounts_in_it(
    sold: dict[str, Any], shop: NewMerchant, api: Api, afterwards: Afterwards
) -> None:
    merchant = shop.merchant.pk
    month = sold["created_at"][:7]
    lists = ("charge", "refund", "posting", "attempt", "settlement", "reportline", "payoutschedule")
    account = (merchant, "test", GONE, "merchant_payable")
    with_amounts = [
        # Which is the mode of the pages after it.
        page("index", currency=GONE, mode="test"),
        *(page(f"payments_{name}_changelist") for name in lists),
        page("simulator_simulatedpayment_changelist"),
        page("payments_charge_changelist", least="1", currency=GONE),
        page("payments_charge_change", sold["id"].removeprefix("ch_")),
        page("payments_statement_change", merchant, mode="test", month=month),
        page("payments_account_change", merchant),
        page("payments_account_month", *account),
        page("payments_account_day", *account, sold["created_at"][:10]),
        page("payments_merchant_change", merchant),
        page("payments_payoutschedule_change", PayoutSchedule.objects.get().pk),
        page("payments_statement_download", merchant, month, "test", "csv"),
    ]
    others = [
        page("payments_statement_download", merchant, month, "test", "pdf"),
        page("payments_reconciliationrun_changelist"),
        page("payments_merchant_set_fees", merchant),
        page("payments_merchant_set_payout_account", merchant),
        page("payments_merchant_set_payout_schedule", merchant),
        page("inbox"),
        page("payments_ledgerday_changelist"),
    ]
    export = page("payments_charge_csv")
    found = afterwards(get=[*with_amounts, *others], post={export: {}})
    assert {address: status for address, (status, _) in found.items() if status != 200} == {}
    assert [address for address in with_amounts if GONE not in found[address][1]] == []
    assert f"{AMOUNT},1234.50" in found[export][1].replace('"', "")


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_the_search_finds_it_by_its_amount(sold: dict[str, Any], afterwards: Afterwards) -> None:
    find = page("find")
    found = afterwards(sweeps=["update_search"], post={find: {"q": f"{GONE}1,234.50"}})
    assert found[find][0] == 200
    assert sold["id"][-4:] in found[find][1]


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_the_api_shows_and_filters_it_and_takes_no_new_one(
    sold: dict[str, Any], shop: NewMerchant, api: Api, afterwards: Afterwards
) -> None:
    source = api.source()
    order = {"amount": 100, "currency": GONE, "source": source, "description": "Halo-halo"}
    found = afterwards(
        key=api.key,
        api={
            f"/charges/{sold['id']}": None,
            f"/payouts?currency={GONE}": None,
            f"/balance_transactions?currency={GONE}": None,
            f"/charges/{sold['id']}/refund": {"amount": 1},
            "/charges/": order,
        },
    )
    *shown, (refused, error) = found.values()
    assert [status for status, _ in shown] == [200] * 4
    assert (refused, json.loads(error)["error"]["param"]) == (422, "currency")
