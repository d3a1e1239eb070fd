"""Payers who buy of one link at the same time."""

import pytest

from payments.domain.checkout import links
from payments.domain.shared.errors import PaymentError
from payments.ids import new_id
from payments.models import Charge
from tests.checkout.shelf import buy, left, link_row, linked, payments_of, shown
from tests.client import Api
from tests.concurrency import at_once

pytestmark = pytest.mark.django_db(transaction=True)
LAST: list[dict[str, object]] = [{"name": "Halo-halo", "amount": 12_500, "quantity": 2}]


def test_of_four_payers_of_the_last_two_pieces_two_pay_and_two_learn_it_before(api: Api) -> None:
    link = linked(api, line_items=LAST)

    def try_to_buy(_: int) -> str:
        try:
            return str(buy(link, 1).kind)
        except PaymentError as error:
            return error.code

    assert sorted(at_once(4, try_to_buy)) == ["link", "link", "link_not_payable", "link_not_payable"]
    assert (left(api, link), len(payments_of(link)), Charge.objects.count()) == ([0], 2, 2)
    assert shown(api, link)["line_items"][0]["quantity"] == 2


def test_of_a_form_that_is_sent_twice_at_once_one_payment_is_opened(api: Api) -> None:
    link, visit = linked(api, line_items=LAST), new_id()
    opened = at_once(2, lambda _: links.open_payment(link_row(link), [2], visit).id)
    assert opened == [visit] * 2
    assert (left(api, link), len(payments_of(link))) == ([0], 1)
