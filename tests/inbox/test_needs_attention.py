"""What needs attention, and when it no longer does."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

from payments import clock
from payments.domain.approvals import decide
from payments.domain.merchants.merchants import NewMerchant
from payments.inbox import decisions, rows
from payments.inbox.sorts import SORTS
from payments.models import Refund, Webhook
from payments.quickstart.demo.sales import Sale
from tests.client import ANSWER_LOST, REFUNDS_WAIT, Api
from tests.operators.factories import ALONE, person, proposed
from tests.overview.past_charges import make_past_charge
from tests.plans import scans_of, use_indexes

URLS = {"success": "https://a.example/", "fail": "https://a.example/", "notify": "https://a.example/kaha"}


def amounts(rows: Iterable[Any]) -> list[int]:
    return [row.amount for row in rows]


def test_a_hold_needs_attention_in_its_last_48_hours_in_any_currency(shop: NewMerchant) -> None:
    now = clock.now()
    make_past_charge(shop.merchant, now - timedelta(days=1), hold=True, amount=300)
    make_past_charge(shop.merchant, now - timedelta(days=6), hold=True, amount=500)
    make_past_charge(shop.merchant, now - timedelta(days=6, hours=3), hold=True, amount=700, currency="JPY")
    make_past_charge(shop.merchant, now - timedelta(days=6), Sale.capture, hold=True)
    assert amounts(rows.expiring_holds(None)) == [700, 500]


def test_an_unknown_outcome_needs_attention_until_it_is_known(shop: NewMerchant) -> None:
    moment = clock.now() - timedelta(minutes=1)
    make_past_charge(shop.merchant, moment, number=ANSWER_LOST, amount=700)
    make_past_charge(shop.merchant, moment, Sale.look_up, number=ANSWER_LOST)
    assert amounts(rows.unknown_outcomes(None)) == [700]


def _end_refund(sale: Sale) -> None:
    sale.delay_refund(timedelta())
    sale.receive_message()


def test_a_refund_needs_attention_when_it_is_pending_for_longer_than_a_day(shop: NewMerchant) -> None:
    for ago in (timedelta(days=2), timedelta(minutes=1)):
        moment = clock.now() - ago
        make_past_charge(shop.merchant, moment, lambda sale: sale.refund(400), number=REFUNDS_WAIT)
        make_past_charge(shop.merchant, moment, lambda sale: sale.refund(100), _end_refund, number=REFUNDS_WAIT)
    assert Refund.objects.count() == 4
    assert amounts(rows.slow_refunds(None)) == [400]


def test_a_request_waits_for_an_approver_until_it_is_decided(api: Api) -> None:
    api.charge()
    rejected = proposed("refund", ALONE + 1)
    decide.reject(rejected, person("ben", "finance"), "No")
    proposed("refund", ALONE + 2)
    assert [each.row.amount for each in decisions.proposed(None)] == [ALONE + 2]


def test_a_receiver_whose_webhooks_fail_is_named_once_with_their_number(api: Api) -> None:
    api.charge_source(api.source(redirect=URLS))
    assert rows.failing_receivers(None) == []
    Webhook.objects.update(failures=1, first_try_at=clock.now())
    [found] = rows.failing_receivers(None)
    assert (found.receiver, found.count) == ("https://a.example:443", Webhook.objects.count())
    assert rows.failing_receivers(frozenset()) == []


def test_a_webhook_that_was_given_up_needs_attention_for_a_week(api: Api) -> None:
    api.charge_source(api.source(redirect=URLS))
    newest = Webhook.objects.latest("id")
    Webhook.objects.filter(id=newest.id).update(state="exhausted", due_at=None)
    assert list(rows.given_up_webhooks(None)) == [newest]
    with clock.at(clock.now() + timedelta(days=8)):
        assert not rows.given_up_webhooks(None)


def test_the_entries_of_a_sort_are_read_in_one_query(shop: NewMerchant) -> None:
    for ago in (timedelta(days=2), timedelta(days=3)):
        moment = clock.now() - ago
        make_past_charge(shop.merchant, moment, lambda sale: sale.refund(400), number=REFUNDS_WAIT)
        make_past_charge(shop.merchant, moment, number=ANSWER_LOST)
    for name in ("refunds", "unknown"):
        sort = next(sort for sort in SORTS if sort.name == name)
        with CaptureQueriesContext(connection) as taken:
            assert sort.section(None, 8).count == 2
        assert len(taken) == 1


def test_no_query_of_the_inbox_reads_a_whole_table(shop: NewMerchant) -> None:
    """The planner takes an index where one fits, once reading the whole table is made dear."""
    big = {"payments_charge", "payments_attempt", "payments_refund", "payments_payout", "payments_reconciliationitem"}
    use_indexes()
    for sort in SORTS:
        with CaptureQueriesContext(connection) as taken:
            list(sort.rows(None)[:51])
        assert taken.captured_queries
        for query in taken.captured_queries:
            scans = [scan for scan in scans_of(query["sql"]) if scan["Relation Name"] in big]
            assert all(scan["Node Type"] != "Seq Scan" for scan in scans), query["sql"]
