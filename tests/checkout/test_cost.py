"""What the page of a checkout asks of the database, on real commits."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.checkout.cast import opened, pay, shown
from tests.client import Api
from tests.contract.lists.test_query_budgets import warm
from tests.pages.checkout_page import page_of, send, text_of

__all__ = ["warm"]
pytestmark = pytest.mark.django_db(transaction=True)


def test_to_pay_takes_as_many_statements_as_a_source_and_its_charge(client: Client, warm: Api) -> None:
    session = opened(warm)
    with CaptureQueriesContext(connection) as sent:
        send(client, session)
    assert shown(warm, session)["payment_status"] == "paid"
    # The checkout, a block, the opened charge, the simulator's books, the outcome.
    assert len(sent) <= 5, sent.captured_queries


@pytest.mark.parametrize(("is_paid", "count"), [(False, 1), (True, 3)])
def test_the_page_reads_the_checkout_then_its_charge_and_receipt(
    client: Client, warm: Api, is_paid: bool, count: int
) -> None:
    session = opened(warm)
    if is_paid:
        pay(session)
    with CaptureQueriesContext(connection) as sent:
        text_of(client, session)
    assert len(sent) <= count, sent.captured_queries


def test_the_way_back_to_the_shop_reads_the_checkout_alone(client: Client, warm: Api) -> None:
    session = opened(warm)
    pay(session)
    with CaptureQueriesContext(connection) as sent:
        client.get(f"{page_of(session)}/done")
    assert len(sent) <= 1, sent.captured_queries
