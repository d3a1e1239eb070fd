"""`kaha rehearse` against the sample shop, which is sound, and against its twins, which have one fault each."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import pytest
from kaha_cli.rehearse.buyers import KINDS, dealt
from kaha_cli.rehearse.relay import MANNERS

from tests.cli.rehearse import twins
from tests.cli.rehearse.conftest import Opened, Rehearse, Service, Terminal, addresses_of, result_of
from tests.cli.rehearse.twins import OK, Answered, HoldingShop, Shop
from tests.support.http_server import Asked, Silence, answering

pytestmark = pytest.mark.long

SEED = 1
# Of each twin a buyer who meets its fault: the kind, the manner of the events if that matters, and the broken rule.
CAUGHT = {
    twins.TrustsTheReturn: ("who opens the return without paying", "", "delivered_unpaid"),
    twins.DeliversAtTheReturnAndAtTheWebhook: ("who pays and returns", "", "delivered_twice"),
    twins.OrdersAgainAtTheWebhook: ("who pays and returns", "", "delivered_to_nobody"),
    twins.ListsAnOrderTwice: ("who pays and returns", "", "listed_twice"),
    twins.LooksBeforeItActs: ("who returns as the webhook comes", "", "delivered_twice"),
    twins.ActsBeforeItVerifies: ("who opens the return without paying", "forged", "delivered_unpaid"),
    twins.DeliversOnEachWebhook: ("who pays and returns", "twice", "delivered_twice"),
    twins.CapturesTwice: ("who pays and returns", "", "state_behind"),
    twins.DeliversWhatIsHeld: ("who pays and returns", "", "delivered_unpaid"),
    twins.TakesTheAmountFromTheBrowser: ("who meddles with the amount", "", "amount_from_browser"),
    twins.ChecksNoSignature: ("who pays and returns", "forged", "forged_event_taken"),
    twins.ChecksNoTime: ("who pays and returns", "replayed", "old_event_taken"),
    twins.LetsAnOldEventOverwrite: ("who pays and returns", "newest first", "state_behind"),
    twins.RefundsBeyondThePayment: ("whose order is refunded in part", "", "other_refund"),
    twins.TakesUnknownForDeclined: ("whose bank's answer is lost", "", "not_delivered"),
    twins.MakesTwoSessionsForOneOrder: ("who pays in two tabs", "", "paid_twice"),
    twins.CrashesBetweenPaymentAndOrder: ("who closes the browser after paying", "", "not_delivered"),
    twins.IgnoresWebhooks: ("who closes the browser after paying", "", "not_delivered"),
    twins.TakesAnySession: ("who returns with the session of another order", "", "delivered_unpaid"),
    twins.KnowsTwoDecimalsOnly: ("who pays in two tabs", "", "other_amount"),
    twins.RefusesUnknownEvents: ("who pays and returns", "", "event_refused"),
    twins.StoresTheOrderAtTheReturn: ("who closes the browser after paying", "", "no_order"),
}


def buyer(kind: str, manner: str) -> str:
    """Return the number of the first buyer who does this, and whose events go so."""
    return str(
        next(
            number
            for number in count(1)
            if dealt(SEED, number, KINDS) == kind and manner in ("", dealt(SEED, number, MANNERS))
        )
    )


@pytest.mark.parametrize("kind", [Shop, HoldingShop])
def test_a_sound_shop_passes_with_each_kind_of_buyer(kind: type[Shop], rehearse: Rehearse) -> None:
    done = rehearse(kind, "--buyers", str(len(KINDS)))
    assert (done.code, f"{len(KINDS)} buyers" in done.out) == (0, True), done.out
    assert "Time moved for kaha's test objects only" in done.out
    assert f"{len(KINDS)} of {len(KINDS)} buyers done, 0 served wrongly so far." in done.err


@pytest.mark.parametrize("twin", twins.TWINS)
def test_each_twin_is_caught_by_a_buyer_who_meets_its_fault(twin: type[Shop], rehearse: Rehearse) -> None:
    kind, manner, code = CAUGHT[twin]
    number = buyer(kind, manner)
    done = rehearse(twin, "--seed", str(SEED), "--only", number, "--json")
    assert done.code == 1, done.err
    assert result_of(done)["wrong"][0]["code"] == code
    # What belongs to no buyer shows only where all play again.
    only = "" if code == "delivered_to_nobody" else f" --only {number}"
    assert result_of(done)["wrong"][0]["replay"] == f"--seed {SEED}{only}"


def test_the_same_seed_gives_the_same_story(rehearse: Rehearse) -> None:
    number = buyer("who pays in two tabs", "")
    first, second = (rehearse(twins.MakesTwoSessionsForOneOrder, "--only", number).out for _ in range(2))
    assert first == second
    lines = re.findall(r"^  (buyer|shop|kaha) +(.+)$", first, re.M)
    assert [what for who, what in lines if who == "buyer"][:3] == [
        "buys for KWD in two tabs at once",
        "pays by card 3055",
        "pays by card 3055 in the other tab",
    ]
    assert lines[-2][0] == "kaha"
    assert lines[-2][1].count(" paid") == 2
    assert lines[-1][0] == "shop"


def test_a_report_is_written_as_one_page_with_what_to_change(rehearse: Rehearse, tmp_path: Path) -> None:
    number = buyer("who opens the return without paying", "")
    rehearse(twins.TrustsTheReturn, "--only", number, "--report", str(tmp_path / "report.html"))
    page = (tmp_path / "report.html").read_text()
    assert "the order was delivered, and kaha has no payment" in page
    assert "Deliver by a verified event" in page
    assert "<script" not in page


def test_ctrl_c_ends_it_with_the_result_so_far(opened: Opened, terminal: Terminal) -> None:
    with opened(Shop) as shop:
        running = terminal.start("rehearse", *addresses_of(shop), "--buyers", "200")
        running.read_until(r"Day 2: [1-9]")
        done = running.interrupt()
    assert done.code == 0
    assert re.match(r"[0-9]+ buyers, [0-9]+ orders, [0-9]+ payments, seed 1: each order is as kaha's books", done.out)


class ShopOfPrograms(Shop):
    """Answers a click with JSON, and has a name of its own for the order, as a shop with a script in its page does."""

    def buy(self, form: Mapping[str, str]) -> Answered:
        super().buy(form)
        order = self.carts[form["cart"]]
        return Answered(OK, {"payment_url": order.page, "reference": f"number {order.reference}"})

    def answer(self, asked: Any) -> Answered:
        answered = super().answer(asked)
        if isinstance(answered.body, list):
            return Answered(OK, [row | {"reference": f"number {row['reference']}"} for row in answered.body])
        return answered


def test_a_shop_may_answer_with_json_that_names_the_order(rehearse: Rehearse) -> None:
    done = rehearse(ShopOfPrograms, "--only", buyer("who pays and returns", ""), "--json")
    assert (done.code, result_of(done)["orders"]) == (0, 1), done.out


def test_orders_may_come_by_standard_input(opened: Opened, terminal: Terminal) -> None:
    number = buyer("who pays and returns", "")
    with opened(Shop) as shop:
        options = " ".join(addresses_of(shop)).replace(f"{shop.address}/orders.json", "-")
        done = terminal.shell(f"echo '[]' | kaha rehearse {options} --only {number} --json; exit ${{PIPESTATUS[1]}}")
        rows = json.dumps([order.shown() for order in shop.orders.values()])
        assert (done.code, result_of(done)["wrong"][0]["code"]) == (1, "no_order")
        assert json.loads(rows)[0]["state"] == "paid"


def passed_on(service: Service, asked: Asked) -> Answered:
    """Return what kaha answers to a request."""
    headers = {name: asked.headers[name] for name in ("Authorization", "Content-Type") if name in asked.headers}
    answer = httpx2.request(asked.method, service.url + asked.path, headers=headers, content=asked.body, timeout=60)
    return Answered(answer.status_code, answer.content, {"Content-Type": "application/json"})


def test_where_kaha_goes_away_the_result_so_far_is_shown(opened: Opened, terminal: Terminal, service: Service) -> None:
    days = iter(range(100))

    def gone_on_the_third_day(asked: Asked) -> Answered | Silence:
        is_gone = next(days) > 0 if asked.path == "/v2/test/clock/" else False
        return Silence.DROPPED if is_gone else passed_on(service, asked)

    with opened(Shop) as shop, answering(gone_on_the_third_day) as server:
        terminal.variables["KAHA_URL"] = server.address
        done = terminal.run("rehearse", *addresses_of(shop), "--buyers", "24")
    assert (done.code, "cannot be reached" in done.err) == (3, True), done.err
    assert re.match(r"[0-9]+ buyers, [0-9]+ orders, [0-9]+ payments, seed 1: ", done.out)


def test_without_a_test_clock_nothing_expires_and_the_result_says_so(
    opened: Opened, terminal: Terminal, service: Service
) -> None:
    def without_clock(asked: Asked) -> Answered:
        return passed_on(service, replace(asked, path=asked.path.replace("/v2/test/clock/", "/no/such/path")))

    with opened(Shop) as shop, answering(without_clock) as server:
        terminal.variables["KAHA_URL"] = server.address
        done = terminal.run("rehearse", *addresses_of(shop), "--only", buyer("who pays at the moment of expiry", ""))
    assert done.code == 0, done.out
    assert "no session expired and no hold ended" in done.out
    assert [order.state for order in shop.orders.values()] == ["paid"]


def test_a_session_of_another_account_is_no_payment_page(opened: Opened, terminal: Terminal, service: Service) -> None:
    with opened(Shop) as shop:
        terminal.variables["KAHA_KEY"] = service.new_merchant_key()
        done = terminal.run("rehearse", *addresses_of(shop), "--only", buyer("who pays and returns", ""))
    assert done.code == 1
    assert "0 buyers" not in done.out
    assert "which leads to no payment page of this account" in done.out


def test_a_return_to_a_host_that_no_option_names_is_not_opened_and_the_result_says_so(
    opened: Opened, terminal: Terminal
) -> None:
    with opened(Shop) as shop:
        options, shop.address = addresses_of(shop), "http://shop.example"
        done = terminal.run("rehearse", *options, "--only", buyer("who pays and returns", ""))
    assert (done.code, "Buyers did not go to shop.example" in done.out) == (0, True), done.out


def test_orders_that_cannot_be_had_are_said_before_anything_is_bought(opened: Opened, terminal: Terminal) -> None:
    with opened(Shop) as shop:
        options = [option.replace("/orders.json", "/thanks?session=1") for option in addresses_of(shop)]
        shop.thanks = lambda query: Answered(OK, {"no": "list"})  # type: ignore[method-assign]
        done = terminal.run("rehearse", *options)
    assert (done.code, "The orders are not" in done.err, shop.orders) == (2, True, {})
