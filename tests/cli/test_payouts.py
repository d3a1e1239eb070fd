"""`kaha balance` and `kaha payouts` against a running kaha."""

import json

import pytest
from pytest_django.live_server_helper import LiveServer

from payments.domain.merchants.merchants import NewMerchant
from payments.domain.payouts import make
from payments.ids import public_id
from payments.models import Payout
from tests.cli.terminal import Terminal
from tests.client import Api, made
from tests.payouts.stories import give_account, give_schedule, paid_out, settled

pytestmark = [pytest.mark.long, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def terminal(bare_terminal: Terminal, live_server: LiveServer, shop: NewMerchant) -> Terminal:
    bare_terminal.variables |= {"KAHA_URL": live_server.url, "KAHA_KEY": shop.keys["sk_test"]}
    return bare_terminal


@pytest.fixture
def payouts(api: Api, shop: NewMerchant) -> list[Payout]:
    """Return a payout that is paid and keeps a reserve, and one that was returned."""
    give_account(shop.merchant)
    schedule = give_schedule(shop.merchant, reserve_percent=10, reserve_days=90)
    settled(api)
    paid = paid_out(schedule)
    give_account(shop.merchant, "1230003")
    settled(api)
    return [paid, paid_out(schedule)]


def test_a_balance_is_shown_by_name_and_currency_also_below_zero(
    api: Api, terminal: Terminal, shop: NewMerchant
) -> None:
    charge = settled(api)
    give_account(shop.merchant)
    make.make_now(give_schedule(shop.merchant).id)
    made(api.post(f"/charges/{charge['id']}/refund", {"amount": 505}))
    api.held(2_000)
    shown = terminal.run("balance").succeeded()
    assert [line.split() for line in shown.splitlines()] == [
        ["available", "PHP", "-5.05"],
        ["pending", "PHP", "0.00"],
        ["reserved", "PHP", "0.00"],
        ["held", "PHP", "20.00"],
    ]
    assert json.loads(terminal.run("balance", "--json").succeeded()) == made(api.get("/balance/"))


def test_payouts_are_listed_newest_first_by_status_and_currency(terminal: Terminal, payouts: list[Payout]) -> None:
    paid, returned = (public_id("po", payout.id) for payout in payouts)
    lines = terminal.run("payouts", "list").succeeded().splitlines()
    assert [line.split()[1] for line in lines] == [returned, paid]
    assert lines[1].split()[2:] == ["PHP", "90.00", "paid"]
    assert paid not in terminal.run("payouts", "list", "--status", "failed", "--currency", "PHP").succeeded()
    assert terminal.run("payouts", "list", "--currency", "USD").succeeded() == ""
    assert f"--start-after {returned}" in terminal.run("payouts", "list", "--limit", "1").err


def test_a_payout_is_shown_with_its_account_and_why_it_failed(terminal: Terminal, payouts: list[Payout]) -> None:
    paid, returned = (public_id("po", payout.id) for payout in payouts)
    shown = terminal.run("payouts", "retrieve", paid).succeeded()
    assert "account  Sari Store, ending in 6789, BNORPHMM" in shown
    assert "reserve  PHP 10.00" in shown
    assert "failure  returned" in terminal.run("payouts", "retrieve", returned).succeeded()
    assert json.loads(terminal.run("payouts", "retrieve", paid, "--json").succeeded())["status"] == "paid"


def test_what_is_no_payout_is_not_asked_for(terminal: Terminal) -> None:
    done = terminal.run("payouts", "retrieve", "ch_1")
    assert (done.code, "begins with po_" in done.err) == (2, True)
