"""Payers who buy of one link at the same time."""

from threading import Event

import pytest
from django.db import transaction

from payments.db.writes import execute_writes
from payments.domain.charging.checkouts import checkout_progress
from payments.domain.checkout import links
from payments.domain.shared.caller import Caller
from payments.domain.shared.errors import PaymentError
from payments.ids import new_id
from payments.models import Charge, Checkout
from tests.checkout.shelf import buy, left, link_row, linked, payments_of, shown
from tests.client import Api
from tests.concurrency import at_once, await_a_waiting_session, in_background

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


def test_a_payer_who_chooses_again_as_the_time_of_their_payment_ends_waits_for_its_end(api: Api) -> None:
    link, visit, is_locked = linked(api, line_items=LAST), new_id(), Event()
    payment = links.open_payment(link_row(link), [2], visit)

    def choose_again() -> list[int] | None:
        assert is_locked.wait(60)
        return links.open_payment(link_row(link), [1], visit).quantities

    with in_background(choose_again) as chosen, transaction.atomic():
        # As each end of a payment: its own row first, and its link's after it.
        Checkout.objects.select_for_update().get(id=visit)
        is_locked.set()
        await_a_waiting_session()
        caller = Caller(payment.merchant_id, payment.livemode)
        execute_writes(*checkout_progress.move(caller, payment, Checkout.State.EXPIRED))
    assert (chosen.result(), left(api, link)) == ([1], [1])
    assert sorted(row.state for row in payments_of(link)) == ["expired", "unpaid"]
