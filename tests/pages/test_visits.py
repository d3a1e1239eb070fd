"""What is noted of a payer's visits: counted, bounded, and forgotten."""

from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.test import Client

from payments import clock
from payments.domain.maintenance.retention import delete_old_rows
from payments.models import Attempt, Charge, PageVisit
from payments.pages import visits
from payments.providers.simulator.models import SimulatedPayment
from tests.client import CHALLENGED, Api
from tests.factories import ChargeFactory

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
Page = PageVisit.Page


@pytest.fixture
def attempt(db: None) -> Attempt:
    return Attempt.objects.get(charge=ChargeFactory(is_awaiting_payer=True))


def test_a_payer_is_noted_on_each_page_of_the_way(client: Client, api: Api) -> None:
    charge = api.charge(CHALLENGED)
    payment = SimulatedPayment.objects.get()
    address = urlsplit(charge["action"]["url"]).path
    for ask in (client.get, lambda *args, **more: client.post(args[0], {"decision": "pay"}, **more)):
        ask(address, headers={"User-Agent": FIREFOX})
    client.get(urlsplit(payment.return_url).path, headers={"User-Agent": FIREFOX})
    noted = PageVisit.objects.order_by("id").values_list("page", "address", "browser")
    assert list(noted) == [(page, "127.0.0.1", "Firefox") for page in ("asked", "decided", "came_back")]


def test_a_page_that_is_asked_for_again_is_counted(attempt: Attempt) -> None:
    for _ in range(3):
        visits.record_visit(attempt.id, Page.CAME_BACK, "Chrome")
    visit = PageVisit.objects.get()
    assert (visit.charge_id, visit.times) == (attempt.charge_id, 3)
    assert visit.first_at < visit.last_at


def test_no_charge_has_more_visits_than_an_operator_would_read(attempt: Attempt) -> None:
    for number in range(visits.MOST_ROWS + 5):
        visits.record_visit(attempt.id, Page.ASKED, f"Browser {number}")
    visits.record_visit(attempt.id, Page.ASKED, "Browser 0")
    assert PageVisit.objects.count() == visits.MOST_ROWS
    assert PageVisit.objects.get(browser="Browser 0").times == 2


def test_a_payment_that_is_no_charge_of_ours_is_not_noted(attempt: Attempt) -> None:
    visits.record_visit(Charge.objects.get().id, Page.ASKED, "Chrome")
    assert not PageVisit.objects.exists()


def test_a_visit_is_forgotten_90_days_after_the_last_of_its_kind(attempt: Attempt) -> None:
    first_at = clock.now()
    for page in (Page.ASKED, Page.DECIDED):
        visits.record_visit(attempt.id, page, "Chrome")
    with clock.at(first_at + timedelta(hours=1)):
        visits.record_visit(attempt.id, Page.DECIDED, "Chrome")
    with clock.at(first_at + timedelta(days=90)):
        delete_old_rows()
    assert PageVisit.objects.count() == 2
    with clock.at(first_at + timedelta(days=90, minutes=30)):
        delete_old_rows()
    assert PageVisit.objects.get().page == Page.DECIDED
