"""A merchant gets one event for each kept card that expires soon."""

import json
from datetime import UTC, datetime

import pytest
from django.db import transaction

from payments import clock
from payments.db.writes import StaleRow
from payments.domain import sources
from payments.domain.charging.expiry import announce_expiring_cards
from payments.domain.merchants.merchants import NewMerchant
from payments.models import Card, Event, Webhook
from tests.client import APPROVED, CARD_FIELDS, Api, made
from tests.contract.calls import customer
from tests.webhooks.endpoints import add_endpoint

pytestmark = pytest.mark.django_db

CARD = {**CARD_FIELDS, "number": APPROVED, "exp_month": "2", "exp_year": "2031"}


def kept(api: Api, **members: str) -> tuple[str, str]:
    """Return the IDs of a customer and of a card that is kept for it."""
    holder = customer(api)["id"]
    source = made(api.post("/sources/", {"type": "card", "card": CARD | members}))["id"]
    made(api.post(f"/customers/{holder}/sources", {"source": source}))
    return holder, source


def make_due() -> int:
    """Let the cards with such a moment reach it; return how many."""
    return Card.objects.filter(expiring_at__isnull=False).update(expiring_at=clock.now())


def test_it_is_written_once_when_its_moment_has_come(api: Api, shop: NewMerchant) -> None:
    endpoint = add_endpoint(shop.merchant, events=("source.expiring",))
    _, source = kept(api)
    assert announce_expiring_cards() == 0
    make_due()
    assert [announce_expiring_cards(), announce_expiring_cards()] == [1, 0]
    assert Webhook.objects.get().endpoint == endpoint
    shown = json.loads(Event.objects.get(type="source.expiring").payload)
    assert (shown["data"]["object"]["id"], shown["sequence"]) == (source, 3)


@pytest.mark.parametrize(
    ("month", "year", "moment"),
    [
        ("2", "2031", datetime(2031, 1, 30, tzinfo=UTC)),
        ("12", "2030", datetime(2030, 12, 2, tzinfo=UTC)),
        ("03", "2032", datetime(2032, 3, 2, tzinfo=UTC)),
    ],
)
def test_its_moment_is_thirty_days_before_the_month_ends(api: Api, month: str, year: str, moment: datetime) -> None:
    kept(api, exp_month=month, exp_year=year)
    assert Card.objects.get().expiring_at == moment


def test_the_last_year_of_all_has_no_end(api: Api) -> None:
    kept(api, exp_year="9999")
    assert Card.objects.get().expiring_at is None


def test_nothing_is_written_of_a_card_that_is_given_up_or_was_never_kept(api: Api) -> None:
    holder, source = kept(api)
    made(api.delete(f"/customers/{holder}/sources/{source}"))
    made(api.post("/sources/", {"type": "card", "card": CARD}))
    assert make_due() == 0


def test_one_that_another_process_has_announced_is_not_announced_again(api: Api) -> None:
    kept(api)
    make_due()
    found = Card.objects.select_related("source").get()
    assert announce_expiring_cards() == 1
    with pytest.raises(StaleRow), transaction.atomic():
        sources.announce_expiring(found)
    assert Event.objects.filter(type="source.expiring").count() == 1
