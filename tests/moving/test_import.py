"""Customers and cards that come from another provider: as they were there, once, and refused row by row."""

import json
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, connections

from customers.domain import imported
from customers.models import Customer, CustomerSource
from payments.domain.cards.card_data import card_data
from payments.domain.merchants.merchants import NewMerchant
from payments.invariants import checks
from payments.invariants.registry import INVARIANTS
from payments.models import AuditEntry, Card, Event, Source
from payments.vault import VaultUnavailable
from tests.client import Api
from tests.moving.conftest import Import
from tests.moving.files import STRIPE, VISA, anna, approved, csv_of, numbered

pytestmark = pytest.mark.django_db


def broken() -> list[str]:
    return [each.name for each in INVARIANTS if checks.check(each).count]


def test_a_row_of_hyperswitchs_migration_is_a_customer_with_a_kept_card(api: Api, bring: Import) -> None:
    row = bring(csv_of(anna())).row(2)

    [source] = (customer := api.get(f"/customers/{row['customer']}").json())["sources"]
    card = Card.objects.select_related("source").get()
    assert (row["result"], row["customer_id"], row["payment_instrument_id"]) == ("imported", "c-1", "pm-1")
    assert (customer["email"], customer["mobile_number"]) == ("anna@shop.example", "+639171234567")
    assert (customer["description"], customer["metadata"]) == (
        "Anna Reyes",
        {"name": "Anna Reyes", "imported_id": "c-1"},
    )
    assert (source["id"], source["vaulted"], source["metadata"]) == (row["source"], True, {"imported_id": "pm-1"})
    assert (card.name, card.exp_month, card.exp_year, card.brand) == ("Anna Reyes", "09", "2034", "visa")
    assert (card_data(card).number, card.network_reference, card.sealed_cvc) == (VISA, "MCC1234560321", None)
    assert card.source.consent["text"] == "A box each week,\nuntil I end it."


def test_customers_as_stripe_hands_them_over_are_read_as_they_are(bring: Import) -> None:
    brought = bring(STRIPE)

    assert [row["result"] for row in brought.result] == ["imported"] * 3
    assert brought.result[0]["reason"] == "The card expires in 1/2021."
    cards = {card.last4: card for card in Card.objects.all()}
    assert (cards["4444"].network_reference, cards["4444"].expiring_at) == ("MSIABC1231", None)
    assert Customer.objects.get(email="ben@shop.example").metadata == {
        "vip": "yes",
        "imported_id": "cus_JeGmWqYRVUNu44",
    }


def test_of_json_customers_without_cards_come_in_and_what_no_database_takes_is_refused(bring: Import) -> None:
    kinds = {"cards": [], "sources": {"data": []}}, {"description": "\ud800"}, {"metadata": {"a": float("nan")}}
    customers = [{"id": f"c-{number}", "email": "a@shop.example", **kind} for number, kind in enumerate(kinds)]

    brought = bring(json.dumps(customers))

    assert [row["result"] for row in brought.result] == ["imported", "refused", "refused"]


REFUSED = {
    "masked": ({"raw_card_number": ""}, "card.number: This value must be the digits alone"),
    "check digit": ({"raw_card_number": "4242424242424241"}, "card.number: This is not a card number."),
    "brand": ({"raw_card_number": "9999999999999995"}, "No scheme that we know"),
    "scheme": ({"card_scheme": "MasterCard"}, "reference: It is not of visa"),
    "year": ({"card_expiry_year": "0000"}, "card.exp_year: This value has characters or a form"),
    "name": ({"card_holder_name": "x" * 300}, "card.name: This value must have at most 50 characters."),
    "formula": ({"customer_id": "=1+1"}, "customer_id: This value has characters"),
    "number elsewhere": ({"name": f"Anna {VISA}"}, "holds a card number"),
    "json": ({"owner": "[1]"}, "must be a JSON object"),
    "number as a name": ({"owner": f'{{"{VISA}": 1}}'}, "There is no such parameter."),
    "escaped": ({"owner": '{"name": "\\u0000"}'}, "must be a JSON object"),
    "half of a pair": ({"owner": '{"name": "\\ud800"}'}, "must be a JSON object"),
    "no json": ({"owner": "{"}, "must be a JSON object"),
    "NUL": ({"name": "Anna\0"}, "has a NUL"),
}


def test_a_hostile_file_is_refused_row_by_row_with_the_reason_and_never_the_number(bring: Import) -> None:
    lines = csv_of(*numbered(1), *(numbered(1)[0] | changes for changes, _ in REFUSED.values()))
    hostile = [b"x" * 10_000_000, b"\xff" * 16 + b",", b'"a"b,', b"a,b", b'"' + VISA.encode() * 10]

    brought = bring(lines.encode() + b"\n".join(hostile))

    for line, (_, reason) in enumerate(REFUSED.values(), 3):
        assert reason in brought.row(line)["reason"], line
    reasons = [brought.row(3 + len(REFUSED) + number)["reason"] for number in range(len(hostile))]
    assert ["cells" in reasons[0], "expected" in reasons[2], "cells" in reasons[3]] == [True] * 3
    assert reasons[4].startswith("unexpected end of data")
    assert "1 imported, 19 refused" in brought.said
    assert VISA[6:] not in f"{brought.result} {brought.said}"
    assert "no JSON" in bring(STRIPE[:300]).row(3)["reason"]


def test_a_file_that_is_sent_again_changes_nothing_and_brings_nothing_back(api: Api, bring: Import) -> None:
    rows = anna(), anna(payment_instrument_id="pm-2"), anna(customer_id="c-2")
    first = bring(csv_of(*rows))
    api.delete(f"/customers/{first.row(2)['customer']}/sources/{first.row(2)['source']}")
    api.delete(f"/customers/{first.row(6)['customer']}")
    before = [list(model.objects.order_by("id").values()) for model in (Source, Customer, CustomerSource)]

    again = bring(csv_of(*rows, anna(customer_id="c-2", payment_instrument_id="pm-9")))

    assert "3 known, 1 refused" in again.said
    assert ("was deleted here" in again.row(8)["reason"], again.row(8)["source"]) == (True, "")
    assert [list(model.objects.order_by("id").values()) for model in (Source, Customer, CustomerSource)] == before
    assert Card.objects.filter(sealed_number__isnull=False).count() == 1
    assert broken() == []


def test_events_are_written_and_other_names_of_columns_read_where_they_are_asked_for(bring: Import) -> None:
    bring(csv_of(anna()))
    assert not Event.objects.filter(type="customer.created").exists()
    bring(csv_of(anna(customer_id="c-2", email="", Mail="b@shop.example")), "--events", "--map", "Mail=email")
    [event] = Event.objects.filter(type="customer.created")
    assert len(json.loads(bytes(event.payload))["data"]["object"]["sources"]) == 1


def test_live_cards_come_by_the_approval_of_another_person_for_this_very_file(
    bring: Import, shop: NewMerchant, settings: Any
) -> None:
    live = csv_of(anna()), "--mode", "live"
    assert "LIVE_CARDS_ATTESTED" in bring(*live).said
    settings.LIVE_CARDS_ATTESTED = True
    tried = bring(csv_of(anna()), "--dry-run", *live[1:])
    assert (tried.row(2)["result"], "Two people approve this first" in bring(*live).said) == ("valid", True)
    digest = tried.said.partition("SHA-256 ")[2][:64]

    approved(shop.merchant, rows=1, digest=digest)

    assert "Two people" in bring(csv_of(anna(name="Eve")), "--mode", "live").said
    assert not Customer.objects.exists()
    assert bring(*live).row(2)["result"] == "imported"
    assert Customer.objects.get().livemode
    begun, ended = AuditEntry.objects.filter(action="added", detail__contains="imported").order_by("id")
    assert digest in begun.detail
    assert "1" in ended.detail.rpartition(digest)[2]
    settings.APPROVAL_HOURS = 0
    assert "Two people" in bring(*live).said


def test_an_import_without_the_vault_says_so(bring: Import, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: Any) -> Any:
        raise VaultUnavailable("The vault is away.")

    monkeypatch.setattr(imported, "sealed", away)
    assert bring(csv_of(anna())).said == "The vault is away."


@pytest.mark.long
def test_an_import_that_is_killed_at_any_row_continues_and_doubles_and_loses_none(
    bring: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    content, chance, sealed = csv_of(*numbered(10_000)), random.Random(65), imported.sealed
    for _ in range(4):
        rows_left = iter([True] * chance.randrange(1, 9_000))

        def killed(*given: Any, rows_left: Iterator[bool] = rows_left) -> Any:
            if not next(rows_left, False):
                raise EOFError
            return sealed(*given)

        with monkeypatch.context() as patched:
            patched.setattr(imported, "sealed", killed)
            with pytest.raises(EOFError):
                bring(content)

    brought = bring(content)

    assert {row["result"] for row in brought.result} == {"imported", "known"}
    assert (Customer.objects.count(), Source.objects.count(), CustomerSource.objects.count()) == (5_000, 10_000, 10_000)
    with connection.cursor() as cursor:
        # As autovacuum does soon after so many rows; the checks have the time-out of a request here.
        cursor.execute("ANALYZE")
    assert broken() == []


@pytest.mark.django_db(transaction=True)
def test_two_imports_at_once_double_nothing(bring: Import) -> None:
    content = csv_of(*numbered(600))

    def run(_: int) -> Any:
        try:
            return bring(content)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(run, range(2)))

    results = sorted(row["result"] for each in both for row in each.result)
    assert results == ["imported"] * 600 + ["known"] * 600
    assert (Customer.objects.count(), Card.objects.count()) == (300, 600)
