"""The list of charges: what narrows it, by what a charge is found, and what no narrowing finds out."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from django.contrib import admin
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from payments import ids
from payments.models import Attempt, AuditEntry, Card, Charge
from payments.search.sweep import rebuild
from tests.admin.conftest import House, text_of
from tests.admin.test_pages import SHOWN, list_of, page_of
from tests.client import APPROVED, REFUNDS_FAIL, Api
from tests.factories import ChargeFactory, SourceFactory

pytestmark = pytest.mark.long

BY_CARD = reverse("admin:payments_charge_by_card")


def listed(operator: Client, **query: str) -> set[str]:
    """Return the pages of the listed charges."""
    text = text_of(operator.get(list_of(Charge), query))
    return {page_of(charge) for charge in Charge.objects.all() if page_of(charge) in text}


def pages_of(*charges: Charge) -> set[str]:
    return {page_of(charge) for charge in charges}


def made_on(day: datetime) -> Charge:
    return ChargeFactory(id=ids.first_id(day), is_captured=True)


def test_a_charge_shows_its_state_in_words(operator: Client) -> None:
    for stage in ("held", "captured", "part_refunded", "refunded", "failed", "voided", "awaiting_payer", "unknown"):
        ChargeFactory(**{f"is_{stage}": True})
    text = text_of(operator.get(list_of(Charge)))
    marks = ("warn", "held"), ("good", "captured"), ("good", "partly refunded"), ("quiet", "refunded")
    marks += ("bad", "declined"), ("quiet", "voided"), ("warn", "awaiting payer"), ("warn", "pending")
    for tone, word in marks:
        assert f'<span class="chip chip-{tone}">{word}</span>' in text, word


def test_whom_nobody_declined_has_left_in_the_list_as_in_the_figures(operator: Client) -> None:
    declined = ChargeFactory(is_failed=True)
    left = ChargeFactory(is_failed=True, failure_data={"code": "payer_cancelled", "reason": "Cancelled"})
    assert '<span class="chip chip-quiet">abandoned</span>' in text_of(operator.get(list_of(Charge)))
    assert listed(operator, money="declined") == pages_of(declined)
    assert listed(operator, money="abandoned") == pages_of(left)
    figures = text_of(operator.get("/admin/?mode=test"))
    assert [word for word in ("Declined", "Abandoned") if word not in figures] == []


def test_charges_are_filtered_by_merchant(operator: Client) -> None:
    ours, other = ChargeFactory(is_held=True), ChargeFactory(is_held=True)
    assert listed(operator, merchant=str(ours.merchant_id)) == pages_of(ours)
    assert listed(operator, merchant=str(other.merchant_id), money="held", mode="test") == pages_of(other)


def test_charges_are_filtered_by_type(operator: Client) -> None:
    source = SourceFactory(type="gcash", used=True)
    wallet = ChargeFactory(is_captured=True, source=source, merchant=source.merchant)
    ChargeFactory(is_captured=True)
    assert listed(operator, type="gcash") == pages_of(wallet)


def test_charges_are_filtered_by_the_day_on_which_they_were_made(operator: Client) -> None:
    before, first, last, after = (
        made_on(datetime(2026, 3, day, hour, tzinfo=UTC)) for day, hour in ((1, 23), (2, 0), (3, 23), (4, 0))
    )
    assert listed(operator, since="2026-03-02", until="2026-03-03") == pages_of(first, last)
    assert listed(operator, since="2026-03-04") == pages_of(after)
    assert listed(operator, until="2026-03-01", money="captured") == pages_of(before)


@pytest.mark.parametrize(
    ("typed", "currency", "found"),
    [("1,234.50", "PHP", True), ("1234.5", "PHP", True), ("1,234.51", "PHP", False), ("123450", "JPY", False)],
)
def test_charges_are_filtered_by_an_amount_as_people_write_it(
    typed: str, currency: str, found: bool, operator: Client
) -> None:
    charge = ChargeFactory(is_captured=True, amount=123_450)
    assert listed(operator, least=typed, currency=currency) == (pages_of(charge) if found else set())


def test_an_amount_has_the_decimals_of_its_currency(operator: Client) -> None:
    charge = ChargeFactory(is_captured=True, amount=777, currency="JPY")
    assert listed(operator, least="777", most="777", currency="JPY") == pages_of(charge)
    assert listed(operator, least="7.77", currency="JPY") == set()


REFUSED = [
    {"least": "-1"},
    {"since": "x"},
    {"since": "1970-01-01"},
    {"until": "0001-01-01"},
    {"until": "9999-12-31"},
    {"merchant": "x"},
    {"card": "x"},
]


@pytest.mark.parametrize("query", REFUSED, ids=str)
def test_what_a_filter_refuses_finds_nothing(query: dict[str, str], operator: Client) -> None:
    ChargeFactory(is_captured=True)
    assert listed(operator, **query) == set()


def test_a_search_finds_the_charges_and_keeps_to_the_filters(operator: Client) -> None:
    charge = ChargeFactory(is_captured=True, description="Order INV-2026-00077, niño's halo-halo")
    ChargeFactory(is_captured=True, description="Order INV-2026-00078")
    rebuild()
    for words in ("00077", "inv-2026-00077", "halo order", "niño", "HALO", "order niñ"):
        assert listed(operator, q=words) == pages_of(charge), words
        assert listed(operator, q=words, money="held") == set()


def test_the_providers_reference_finds_its_charge_at_once(operator: Client, api: Api) -> None:
    charge = Charge.objects.get(pk=ids.parse_id("ch", api.charge()["id"]))
    api.charge()
    assert listed(operator, q=Attempt.objects.get(charge=charge).provider_ref) == pages_of(charge)


def test_a_card_number_finds_the_charges_on_it(operator: Client, api: Api) -> None:
    mine = {ids.parse_id("ch", api.charge()["id"]) for _ in range(2)}
    api.charge(REFUNDS_FAIL)
    response = operator.post(BY_CARD, {"number": " 4000 0000 0000-3055 "})
    assert response.status_code == 302
    assert listed(operator, **{"card": response["Location"].partition("=")[2]}) == pages_of(
        *Charge.objects.filter(pk__in=mine)
    )


def test_a_search_by_card_number_is_recorded_without_the_number(operator: Client, api: Api) -> None:
    api.charge()
    api.charge()
    operator.post(BY_CARD, {"number": APPROVED})
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.detail) == ("searched", "by a card number, charges found: 2")
    assert (entry.actor, entry.origin) == ("operator", "127.0.0.1")
    kept = str(vars(entry))
    fingerprint = bytes(Card.objects.latest("pk").fingerprint)
    assert [mark for mark in (APPROVED, APPROVED[-4:], fingerprint.hex(), repr(fingerprint)) if mark in kept] == []


def test_a_search_that_finds_nothing_is_recorded_too(operator: Client) -> None:
    operator.post(BY_CARD, {"number": APPROVED})
    assert AuditEntry.objects.latest("id").detail == "by a card number, charges found: 0"


def test_a_card_number_stays_in_no_address_and_no_session(operator: Client, api: Api) -> None:
    api.charge()
    response = operator.post(BY_CARD, {"number": APPROVED})
    assert APPROVED not in response["Location"]
    assert APPROVED not in str(dict(operator.session))
    assert APPROVED not in text_of(operator.get(response["Location"]))


@pytest.mark.parametrize("number", ["4000000000003056", "400000000000305", "x" * 16, "४" * 16, ""])
def test_what_is_no_card_number_is_refused_and_not_shown_again(number: str, operator: Client) -> None:
    text = text_of(operator.post(BY_CARD, {"number": number}))
    assert "errorlist" in text
    assert not number or f'value="{number}"' not in text


def test_a_card_number_without_charges_is_said_to_have_none(operator: Client) -> None:
    response = operator.post(BY_CARD, {"number": APPROVED}, follow=True)
    assert "There is no charge on this card number." in text_of(response)


def filters_of(model: type[Model]) -> list[str]:
    return [str(getattr(one, "parameter_name", one)) for one in admin.site._registry[model].list_filter]


def columns_kept_back() -> Iterator[tuple[type[Model], str]]:
    for model in SHOWN:
        columns = {field.name for field in model._meta.concrete_fields}
        yield from ((model, name) for name in sorted(columns - {*filters_of(model)}))


@pytest.mark.parametrize("lookup", ["", "__contains", "__startswith", "__gte", "__regex"])
def test_a_sealed_number_is_not_found_out_letter_by_letter(lookup: str, house: House, operator: Client) -> None:
    begins_with = "\\x" + bytes(Card.objects.latest("pk").sealed_number or b"").hex()[:2]
    response = operator.get(list_of(Card), {f"sealed_number{lookup}": begins_with})
    assert response.status_code == 400


def test_a_list_is_narrowed_by_nothing_but_its_filters(house: House, operator: Client) -> None:
    for model, name in columns_kept_back():
        assert operator.get(list_of(model), {f"{name}__isnull": "False"}).status_code == 400, (model, name)


def test_a_list_is_not_narrowed_by_the_columns_of_another_table(house: House, operator: Client) -> None:
    query, browser = {"source__merchant__keys__digest__startswith": "a"}, {"Accept": "text/html"}
    response = operator.get(list_of(Card), query, headers=browser)
    assert response.status_code == 400
    assert "This list has no such filter." in response.content.decode()


def test_every_filter_of_a_list_narrows_it(house: House, operator: Client) -> None:
    for model in SHOWN:
        for name in filters_of(model):
            assert operator.get(list_of(model), {name: "x"}).status_code in (200, 302), (model, name)
