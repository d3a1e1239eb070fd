"""What a search finds, and how its entries follow the events."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from uuid import UUID

import pytest
from django.db import connection, connections
from django.utils import timezone, translation

from payments.domain.merchants.merchants import NewMerchant
from payments.embedded.processes import wait_until
from payments.ids import new_id, parse_id, short_reference
from payments.models import Attempt, Charge, Event, SearchEntry, SearchProgress
from payments.models.merchants.merchant_access import Limit
from payments.search import find, sweep
from payments.search.query import parse
from tests.client import Api, made
from tests.contract.calls import debit
from tests.contract.charges.test_charges import verify
from tests.factories import ChargeFactory, MerchantFactory

TODAY = date(2026, 11, 22)
PATIENCE_SECONDS = 30
OWNER = {
    "name": "Andres Bonifacio",
    "billing": {
        "name": "Andres Bonifacio",
        "email": "andres@example.com",
        "phone_number": "63 917 123-4567",
        "line1": "7 Mabini Street",
        "country": "PH",
    },
}


def found(text: str, limit: Limit = None) -> set[UUID]:
    """Return the IDs of the charges that a search finds."""
    everything = find.charges(parse(text, TODAY), limit)
    assert everything.few is not None
    assert set(everything.rows.values_list("pk", flat=True)) == set(everything.few)
    return set(everything.few)


def test_a_debit_is_found_by_the_name_of_its_account(api: Api) -> None:
    waiting = debit(api)
    verify(api, waiting)
    sweep.rebuild()
    assert found("dela Cruz") == {parse_id("ch", waiting["id"])}


@pytest.fixture
def charge(api: Api) -> UUID:
    """Return the ID of a charge with everything that a search looks for, beside another charge."""
    order = {
        "amount": 125_000,
        "source": api.source(owner=OWNER),
        "description": "Halo-halo, order INV-2026/77",
        "metadata": {"table": 12, "waiter": "Niña Reyes"},
    }
    answer = made(api.post("/charges/", order, key="Order-20261121/77"))
    api.charge()
    sweep.rebuild()
    uuid = parse_id("ch", answer["id"])
    assert uuid
    return uuid


@pytest.mark.parametrize(
    ("language", "words", "stages"),
    [
        ("en", "held", {"held"}),
        ("en", "Captured", {"captured"}),
        ("en", "declined", {"failed"}),
        ("en", "refunded", {"part_refunded", "refunded"}),
        ("en", "partly refunded", {"part_refunded"}),
        ("en", "waiting", {"awaiting_payer", "unknown"}),
        ("en", "failed", {"failed"}),
        ("en", "disputed", {"captured"}),
        ("fil", "naka-hold", {"held"}),
        ("fil", "tinanggihan", {"failed"}),
        ("fil", "hinihintay", {"awaiting_payer"}),
        ("fil", "na-refund", {"part_refunded", "refunded"}),
        ("fil", "declined", {"failed"}),
    ],
)
def test_a_state_is_found_by_the_word_of_the_lists(db: None, language: str, words: str, stages: set[str]) -> None:
    names = ("held", "captured", "part_refunded", "refunded", "failed", "voided", "unknown", "awaiting_payer")
    charges = {name: ChargeFactory(**{f"is_{name}": True}) for name in names}
    Charge.objects.filter(pk=charges["captured"].pk).update(disputed=True)
    sweep.rebuild()
    with translation.override(language):
        assert found(words) == {charges[name].pk for name in stages}


def test_the_reference_on_a_payer_s_page_finds_its_charge(charge: UUID) -> None:
    reference = short_reference(charge)
    assert found(reference.replace(" ", "")) == found(reference.replace(" ", "").lower()) == {charge}


@pytest.mark.parametrize("digits", [5, 8, 12, 31])
def test_the_end_of_an_id_finds_its_charge(digits: int, charge: UUID) -> None:
    assert found(f"…{charge.hex[-digits:]}") == found(f"ch_0195...{charge.hex[-digits:]}") == {charge}


def test_the_end_of_a_refunds_id_finds_its_charge(api: Api) -> None:
    charge = api.charge()["id"]
    refund = made(api.post(f"/charges/{charge}/refund", {"amount": 100}))["refunds"][0]["id"]
    sweep.rebuild()
    assert found(f"…{refund[-6:]}") == {parse_id("ch", charge)}


@pytest.mark.parametrize("text", ["1000..1250", "1,250..2000", "₱1,249.99..₱1,250.01", "0..99999999", "1250..1250"])
def test_a_span_of_amounts_finds_what_is_between(text: str, charge: UUID) -> None:
    assert charge in found(text)


@pytest.mark.parametrize("text", ["1000..1249.99", "1250.01..2000", "0..1", "12500..99999"])
def test_a_span_of_amounts_finds_nothing_outside(text: str, charge: UUID) -> None:
    assert charge not in found(text)


@pytest.mark.parametrize("text", ["bonifcaio 1250", "bonifaci 1250", "bonnifacio 1250", "boniffcio 1250"])
def test_a_name_with_one_error_finds_what_was_meant(text: str, charge: UUID) -> None:
    near = find.with_one_error(parse(text, TODAY))
    assert near
    assert find.charges(near, None).few == [charge]


@pytest.mark.parametrize(("typed", "finds"), [("laakbay", True), ("lakbya", True), ("lkbay", True), ("lakkkay", False)])
def test_a_merchant_is_found_by_a_name_with_one_error(typed: str, finds: bool, db: None) -> None:
    merchant = MerchantFactory(title="Hotel Lakbay (Main)").pk
    near = find.with_one_error(parse(typed, TODAY))
    assert near
    assert find.merchants(near, None).few == [merchant] * finds


FINDS = [
    "1250",
    "1,250.00",
    "₱1,250",
    "andres",
    "ANDRES bonif",
    "andres@example.com",
    "example.com",
    "mabini",
    "+63 917 123 4567",
    "+639171234567",
    "639171234567",
    "63-917-123-4567",
    "917 1250",
    "INV-2026/77",
    "inv-2026",
    "halo-halo 1250",
    "niña",
    "nina reyes",
    "waiter",
    "Order-20261121/77",
    "3055 1250",
    "php 1250",
    "card 1250 succeeded",
    "table 12",
    "sari 1250",
    '"Sari Store" 1250',
]


@pytest.mark.long
@pytest.mark.parametrize("text", FINDS)
def test_a_charge_is_found_by_what_is_known_of_it(text: str, charge: UUID) -> None:
    assert found(text) == {charge}


@pytest.mark.long
@pytest.mark.parametrize(
    "text", ["1251", "andresa", "andres 1251", '"125"', "a.example.com", "", "-", "andres nothing", "failed 1250"]
)
def test_a_charge_is_not_found_by_anything_else(text: str, charge: UUID) -> None:
    assert found(text) == set()


def test_four_digits_are_tried_as_card_amount_and_text(api: Api) -> None:
    by_amount = ChargeFactory(is_captured=True, amount=305_500).pk
    by_text = ChargeFactory(is_captured=True, description="Room 3055").pk
    by_card = parse_id("ch", api.charge()["id"])
    sweep.rebuild()
    assert found("3055") == {by_amount, by_text, by_card}


def test_the_providers_reference_finds_its_charge(charge: UUID) -> None:
    assert found(Attempt.objects.get(charge=charge).provider_ref) == {charge}


def test_a_refunded_amount_finds_the_charge(api: Api) -> None:
    answer = api.charge()
    made(api.post(f"/charges/{answer['id']}/refund", {"amount": 4_321}))
    sweep.rebuild()
    assert found("43.21") == {parse_id("ch", answer["id"])}


def test_a_customer_finds_the_charges_of_their_sources_also_after_a_change(api: Api) -> None:
    customer = made(api.post("/customers/", {"email": "old@example.com", "description": "Maria Clara"}))
    source = api.source()
    made(api.post(f"/customers/{customer['id']}/sources", {"source": source}))
    charge = parse_id("ch", api.charge_source(source)["id"])
    sweep.rebuild()
    assert found("old@example.com") == found("maria clara") == {charge}
    made(api.put(f"/customers/{customer['id']}", {"email": "new@example.com"}))
    customer_id = parse_id("cus", customer["id"])
    assert customer_id
    sweep.enter("customer", [customer_id])
    assert (found("old@example.com"), found("new@example.com")) == (set(), {charge})


def test_nothing_personal_of_a_deleted_customer_stays_in_the_search(api: Api) -> None:
    customer = made(api.post("/customers/", {"email": "gone@example.com", "description": "Maria"}))
    sweep.rebuild()
    assert find.customers(parse("gone@example.com", TODAY), None).few
    assert api.delete(f"/customers/{customer['id']}").status_code == 200
    sweep.rebuild()
    assert not SearchEntry.objects.filter(kind="customer").exists()


def test_an_operator_finds_charges_of_their_merchants_alone(charge: UUID, shop: NewMerchant) -> None:
    assert found("1250", limit={shop.merchant.pk}) == {charge}
    assert found("1250", limit={MerchantFactory().pk}) == set()
    assert found("1250", limit=set()) == set()
    assert found("today", limit=set()) == set()


def test_the_names_of_other_merchants_and_their_customers_find_nothing(charge: UUID) -> None:
    mine = MerchantFactory(title="Mine").pk
    assert find.merchants(parse("sari", TODAY), {mine}).few == []
    assert found("sari", limit={mine}) == set()


def test_days_begin_at_midnight_of_the_operators_time_zone(db: None) -> None:
    moments = [datetime(2026, 11, 21, 15, 59, tzinfo=UTC), datetime(2026, 11, 21, 16, 0, tzinfo=UTC)]
    before, after = (ChargeFactory(is_captured=True, id=new_id(moment)).pk for moment in moments)
    sweep.rebuild()
    with timezone.override("Asia/Manila"):
        assert found("22 Nov 2026") == {after}
        assert found("2026-11-21") == {before}


@pytest.mark.parametrize(
    "text", ["'", "\\", "a' | 'b", "a\\' b", ":*", "x:* & !y", "'):*", "%", "a\x00b", "\x00", "𝕬 'x'"]
)
def test_signs_in_a_search_mean_nothing(text: str, db: None) -> None:
    ChargeFactory(is_captured=True, description="nothing of it")
    sweep.rebuild()
    assert found(text) == set()


def test_of_many_the_newest_are_found_too(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find, "FEW_MAX", 2)
    charges = [ChargeFactory(is_captured=True, description="Turon").pk for _ in range(3)]
    sweep.rebuild()
    many = find.charges(parse("turon", TODAY), None)
    assert many.few is None
    assert many.newest(2) == sorted(charges, reverse=True)[:2]
    assert set(Charge.objects.filter(many.condition).values_list("pk", flat=True)) == set(charges)


def test_a_word_is_found_by_the_index(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_indexscan = off")
    assert "search_of_charges" in find.charges(parse("halo 1250", TODAY), None).rows.explain()
    assert "search_of_customers" in find.customers(parse("juan@example.com", TODAY), None).rows.explain()


@pytest.mark.django_db(transaction=True)
@pytest.mark.long
class TestSweep:
    """The sweep, with events that are committed."""

    def test_events_make_entries(self, api: Api) -> None:
        charge = parse_id("ch", api.charge()["id"])
        assert wait_until(lambda: sweep.update() > 0, PATIENCE_SECONDS)
        assert found("halo-halo") == {charge}

    def test_a_change_makes_the_entry_again(self, api: Api) -> None:
        answer = api.charge()
        assert wait_until(lambda: sweep.update() > 0, PATIENCE_SECONDS)
        assert found("43.21") == set()
        made(api.post(f"/charges/{answer['id']}/refund", {"amount": 4_321}))
        assert wait_until(lambda: sweep.update() > 0, PATIENCE_SECONDS)
        assert found("43.21") == {parse_id("ch", answer["id"])}

    def test_a_worker_that_ends_in_between_loses_nothing(self, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
        charge = parse_id("ch", api.charge()["id"])
        time.sleep(1.1)  # Events of the last second are read later.
        with monkeypatch.context() as broken:
            broken.setitem(sweep.MAKERS, "charge", (Charge, _fail))
            with pytest.raises(KeyboardInterrupt):
                sweep.update()
        assert sweep.update() > 0
        assert found("halo-halo") == {charge}

    def test_many_events_are_read_in_batches(self, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
        charges = {parse_id("ch", api.charge()["id"]) for _ in range(3)}
        monkeypatch.setattr(sweep, "BATCH", 2)
        time.sleep(1.1)  # Events of the last second are read later.
        assert sweep.update(most_batches=1) <= 1
        last = Event.objects.latest("id").created_at
        progress = SearchProgress.objects.get()
        assert progress.complete_to is not None
        assert progress.complete_to < last
        sweep.update(most_batches=100)
        assert found("halo-halo") == charges
        assert Charge.objects.count() == 3

    def test_two_workers_at_once_make_one_entry_each(self, api: Api) -> None:
        charges = {parse_id("ch", api.charge()["id"]) for _ in range(5)}
        time.sleep(1.1)  # Events of the last second are read later.

        def sweep_once(_: int) -> None:
            sweep.update()
            connections.close_all()

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(sweep_once, range(4)))
        sweep.update()
        assert found("halo-halo") == charges


def _fail(_: object) -> list[SearchEntry]:
    raise KeyboardInterrupt
