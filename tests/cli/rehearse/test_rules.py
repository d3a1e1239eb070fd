"""What a rehearsal makes of orders, books and pages, without any service."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from kaha_cli.failures import Misuse
from kaha_cli.rehearse.books import Order, orders_of
from kaha_cli.rehearse.browser import Page
from kaha_cli.rehearse.buyers import KINDS, dealt
from kaha_cli.rehearse.relay import MANNERS
from kaha_cli.rehearse.rules import Charges, Wrong, broken_rules
from kaha_cli.rehearse.story import Report

from tests.cli.terminal import Terminal

ROW = '{"reference": "o1", "state": "paid", "amount": 100, "currency": "php", "delivered": 1}'
ARGUMENTS = ("--begin", "http://127.0.0.1:1/b", "--orders", "-", "--receiver", "http://127.0.0.1:1/w")


def order(state: str = "paid", delivered: int = 1, amount: int = 100, refunded: int | None = None) -> Order:
    return Order("o1", state, amount, "PHP", delivered, refunded)


def charge(refunded: int = 0, currency: str = "PHP") -> dict[str, Any]:
    return {"amount_captured": 100, "amount_refunded": refunded, "currency": currency}


PAID, REFUNDED = charge(), charge(60)


@pytest.mark.parametrize(
    ("listed", "payments", "broken"),
    [
        (order(), [PAID], []),
        (order("cancelled", 0), [], []),
        (order("open", 0), [], []),
        (None, [], []),
        (order(refunded=60), [REFUNDED], []),
        (order("refunded", refunded=100), [charge(100)], []),
        (None, [PAID], ["no_order"]),
        (order(), [PAID, PAID], ["paid_twice"]),
        (order(), [PAID, charge(100)], []),
        (order("open"), [], ["delivered_unpaid"]),
        (order(delivered=2), [PAID], ["delivered_twice"]),
        (order(delivered=0), [PAID], ["not_delivered"]),
        (order(delivered=0), [], ["paid_on_paper"]),
        (order("cancelled"), [PAID], ["state_behind"]),
        (order("cancelled", 0), [PAID], ["not_delivered", "state_behind"]),
        (order(amount=101), [PAID], ["other_amount"]),
        (order(), [charge(currency="JPY")], ["other_amount"]),
        (order(refunded=120), [REFUNDED], ["other_refund"]),
        (order("refunded"), [REFUNDED], ["other_refund"]),
        (order("paid"), [charge(100)], ["other_refund"]),
    ],
)
def test_each_rule_is_broken_by_what_it_forbids_and_by_nothing_else(
    listed: Order | None, payments: Charges, broken: list[str]
) -> None:
    assert broken_rules([listed] if listed else [], payments) == broken


@pytest.mark.parametrize("cards", [KINDS, MANNERS])
def test_each_kind_and_manner_comes_once_in_a_deal_and_in_another_order_in_the_next(cards: dict[str, object]) -> None:
    first, second = ([dealt(7, number + start, cards) for number in range(len(cards))] for start in (1, 1 + len(cards)))
    assert sorted(first) == sorted(second) == sorted(cards)
    assert first != second


@pytest.mark.parametrize(
    "text",
    [
        f"[{ROW}]",
        "reference,state,amount,currency,delivered\no1,paid,100,php,1\n",
        "\ufeffreference;state;amount;currency;delivered\r\no1;paid;100;php;1\r\n",
    ],
)
def test_orders_are_read_from_standard_input_as_json_or_csv(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO(text))
    assert orders_of("-") == {"o1": [order()]}


def test_orders_are_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text("reference,state,amount,currency,delivered,refunded\no1,paid,100,PHP,1,60\n")
    assert orders_of(str(tmp_path / "orders.csv")) == {"o1": [order(refunded=60)]}


@pytest.mark.parametrize(
    "text",
    [
        *("{}", "[1]", "[" * 100_000, "[{}]", "a,b\n1,2\n", "reference,state\no1,paid\n"),
        *(
            f"[{ROW.replace(*change)}]"
            for change in (("paid", "sold"), ("100", "12.9"), ("100", "-1"), ("100", "true"))
        ),
    ],
)
def test_what_is_no_list_of_orders_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO(text))
    with pytest.raises(Misuse, match="The orders are not"):
        orders_of("-")


def test_a_form_is_read_with_its_fields_choices_and_buttons() -> None:
    page = Page("", text='<form><input name="a" value="1"><input type=radio name=b value=x><button name="c"></form>')
    form = page.form("c")
    assert form
    assert (form.fields, form.choices) == ({"a": "1", "c": ""}, {"b": ["x"]})
    assert page.form("d") is None


def test_the_page_of_a_report_shows_every_story_as_text() -> None:
    wrong = Wrong("paid_twice", "<o1>", 7, 3, "who pays", [("shop", "<b>says</b>")])
    page = Report(7, 9, 9, 9, [wrong], "A note").html()
    assert "&lt;b&gt;says&lt;/b&gt;" in page
    assert "&lt;o1&gt;" in page
    assert "--seed 7 --only 3" in page


@pytest.mark.parametrize(
    ("key", "begin", "reason"),
    [
        ("sk_live_", "http://127.0.0.1:1/b", "test key only"),
        ("sk_test_", "http://8.8.8.8/b", "--yes-this-is-my-shop"),
        ("sk_test_", "no address", "is not an address"),
    ],
)
def test_a_live_key_and_a_host_that_is_not_private_are_refused(
    key: str, begin: str, reason: str, bare_terminal: Terminal
) -> None:
    arguments = [begin if part == ARGUMENTS[1] else part for part in ARGUMENTS]
    environment = {"KAHA_KEY": key + "0a" * 24, "KAHA_URL": "http://127.0.0.1:1"}
    done = bare_terminal.run("rehearse", *arguments, **environment)
    assert (done.code, reason in done.err) == (2, True)
