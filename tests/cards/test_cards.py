import time
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from payments import clock, vault
from payments.domain.cards import bin_file
from payments.domain.cards.bin_table import FACTS, KEPT_SECONDS, describe, known_entries
from payments.domain.cards.card_data import card_data, new_card
from payments.domain.charging import expiry
from payments.domain.maintenance.data_keys import DatabaseKeyStore
from payments.models import BinRange, Card, CvcKey
from payments.vault import SEALING_SECONDS, Purpose, VaultError, card_fingerprint
from tests.factories import SourceFactory

pytestmark = pytest.mark.django_db

NUMBER = "4242424242424242"
TYPED = {"number": NUMBER, "cvc": "987", "name": "Juan dela Cruz", "exp_month": "1", "exp_year": "2039"}


def stored(**typed: Any) -> Card:
    card = new_card(SourceFactory(type="gcash"), TYPED | typed)
    card.save(force_insert=True)
    return Card.objects.select_related("source").get(id=card.id)


@pytest.mark.parametrize(
    ("number", "brand", "country"),
    [
        ("4242424242424242", "visa", "US"),
        ("4012001037141112", "visa", "US"),
        ("4000000000000002", "visa", "US"),
        ("5555555555554444", "mastercard", "US"),
        ("3566002020360505", "jcb", "JP"),
    ],
)
def test_a_test_card_is_described_without_any_import(number: str, brand: str, country: str) -> None:
    assert facts(number) == (brand, "credit", country, "Test Bank")


@pytest.mark.parametrize(
    ("first_four", "brand"),
    [
        ("2220", "unknown"),
        ("2221", "mastercard"),
        ("2720", "mastercard"),
        ("2721", "unknown"),
        ("3400", "amex"),
        ("3500", "unknown"),
        ("3527", "unknown"),
        ("3528", "jcb"),
        ("3589", "jcb"),
        ("3590", "unknown"),
        ("3799", "amex"),
        ("3999", "unknown"),
        ("4000", "visa"),
        ("4999", "visa"),
        ("5099", "unknown"),
        ("5100", "mastercard"),
        ("5599", "mastercard"),
        ("5600", "unknown"),
        ("6199", "unknown"),
        ("6200", "unionpay"),
        ("6299", "unionpay"),
        ("6300", "unknown"),
    ],
)
def test_the_brand_follows_from_the_range_where_nothing_was_imported(first_four: str, brand: str) -> None:
    assert facts(f"{first_four}111111111111") == (brand, "unknown", "unknown", "unknown")


def test_the_longest_imported_prefix_wins() -> None:
    for prefix in ("4242", "42424242424", "424242424"):
        BinRange.objects.create(prefix=prefix, brand="visa", funding="debit", country="PH", issuing_bank=prefix)
    assert facts(NUMBER) == ("visa", "debit", "PH", "42424242424")


def facts(number: str) -> tuple[str, ...]:
    """Return brand, funding, country and issuer of a card number."""
    return tuple(getattr(describe(number), name) for name in FACTS)


def test_an_imported_prefix_of_other_numbers_shows_nothing() -> None:
    BinRange.objects.create(prefix="42424243", brand="jcb")
    assert describe(NUMBER).brand == "visa"


def test_describing_cards_of_the_same_first_digits_is_one_query(django_assert_num_queries) -> None:
    with django_assert_num_queries(1):
        describe(NUMBER)
        describe(NUMBER)


def test_an_import_counts_a_minute_later() -> None:
    describe(NUMBER)
    BinRange.objects.create(prefix="4242", brand="jcb")
    known_entries.cache.expire(time.monotonic() + KEPT_SECONDS - 1)
    assert describe(NUMBER).brand == "visa"
    known_entries.cache.expire(time.monotonic() + KEPT_SECONDS)
    assert describe(NUMBER).brand == "jcb"


def test_a_new_card_is_stored_as_what_may_be_seen() -> None:
    card = stored(address_city="Cebu", address_zip="6000")
    assert (card.last4, card.brand, card.exp_month, card.exp_year) == ("4242", "visa", "1", "2039")
    assert card.address == {"address_city": "Cebu", "address_zip": "6000"}
    assert bytes(card.fingerprint) == card_fingerprint(NUMBER)


def test_a_new_card_shows_neither_number_nor_cvc() -> None:
    row = b" ".join(
        bytes(value) if isinstance(value, (bytes, memoryview)) else str(value).encode()
        for value in Card.objects.filter(id=stored().id).values_list()[0]
    )
    assert NUMBER.encode() not in row
    # With four digits, because a text of random bytes has any three once in 400,000 runs.
    assert b"9876" not in bytes(stored(cvc="9876").sealed_cvc)


def test_a_card_comes_back_as_it_was_typed() -> None:
    data = card_data(stored())
    assert (data.number, data.cvc, data.exp_month, data.exp_year) == (NUMBER, "987", "1", "2039")
    assert data.name == "Juan dela Cruz"


def test_a_cvc_that_was_given_goes_before_the_kept_one() -> None:
    assert card_data(stored(), cvc="111").cvc == "111"


def test_the_cvc_is_kept_for_an_hour() -> None:
    remaining = stored().cvc_expires_at - clock.now()
    assert timedelta(minutes=59) < remaining <= timedelta(minutes=60)


@pytest.mark.parametrize(
    "gone",
    [{"cvc_expires_at": clock.now()}, {"cvc_expires_at": None}, {"sealed_cvc": None}],
    ids=["over", "without an end", "destroyed"],
)
def test_a_cvc_that_has_served_is_not_used(gone: dict[str, Any]) -> None:
    card = stored()
    for name, value in gone.items():
        setattr(card, name, value)
    assert card_data(card).cvc is None


@pytest.mark.django_db(transaction=True)
def test_a_cvc_whose_key_is_gone_was_not_given() -> None:
    card = stored()
    assert CvcKey.objects.all().delete()[0]
    vault.use_store(DatabaseKeyStore())
    assert (card_data(card).number, card_data(card).cvc) == (NUMBER, None)


def test_the_keys_of_cvcs_are_never_in_the_write_ahead_log() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT relpersistence FROM pg_class WHERE relname = %s", [CvcKey._meta.db_table])
        assert cursor.fetchone() == ("u",)


def test_the_key_of_a_cvc_goes_when_the_last_of_its_cvcs_must() -> None:
    CvcKey.objects.all().delete()
    kept_for = Purpose.CVC.seals_for + timedelta(hours=1, seconds=SEALING_SECONDS)
    for age in (kept_for, kept_for - timedelta(minutes=1)):
        CvcKey.objects.create(kek="local:k1", wrapped=b"w", created_at=clock.now() - age)
    assert expiry.destroy_cvc_keys() == 1
    assert CvcKey.objects.count() == 1


def test_the_number_of_a_card_that_nobody_uses_is_kept_for_30_days() -> None:
    remaining = stored().number_expires_at - clock.now()
    assert timedelta(days=29, hours=23) < remaining <= timedelta(days=30)


def test_a_destroyed_number_does_not_come_back() -> None:
    card = stored()
    card.sealed_number = None
    with pytest.raises(VaultError):
        card_data(card)


def test_a_number_copied_to_another_row_does_not_open() -> None:
    thief, victim = stored(), stored()
    thief.sealed_number = victim.sealed_number
    with pytest.raises(VaultError):
        card_data(thief)


def test_the_sealed_cvc_does_not_open_as_the_number() -> None:
    card = stored()
    card.sealed_number = card.sealed_cvc
    with pytest.raises(VaultError):
        card_data(card)


def test_card_data_never_shows_in_a_repr() -> None:
    assert repr(card_data(stored())) == "CardData()"


HEADER = "prefix,brand,funding,country,issuing_bank"


def csv(*rows: str) -> list[str]:
    return [f"{line}\n" for line in (HEADER, *rows)]


def test_entries_are_added_changed_and_left_alone() -> None:
    bin_file.store(bin_file.read(csv("4242,visa,credit,US,First Bank", "5555,mastercard,debit,PH,Second Bank")))
    counts = bin_file.store(
        bin_file.read(csv("4242,visa,credit,US,First Bank", "5555,mastercard,prepaid,PH,Third", "3528,jcb,credit,JP,X"))
    )
    assert counts == bin_file.Counts(added=1, changed=1, unchanged=1)
    assert BinRange.objects.get(prefix="5555").issuing_bank == "Third"
    assert BinRange.objects.count() == 3


def test_entries_that_a_file_does_not_name_stay() -> None:
    bin_file.store(bin_file.read(csv("4242,visa,credit,US,First Bank")))
    bin_file.store(bin_file.read(csv("5555,mastercard,debit,PH,Second Bank")))
    assert BinRange.objects.count() == 2


def test_an_import_of_any_size_is_written() -> None:
    rows = [f"{prefix},visa,credit,US,Bank" for prefix in range(400000, 403000)]
    assert bin_file.store(bin_file.read(csv(*rows))).added == 3000


def test_blank_lines_and_unknown_facts_are_fine() -> None:
    [entry] = bin_file.read(csv("", '42424242424,unknown,unknown,unknown,"Bank, First"', ""))
    assert entry.issuing_bank == "Bank, First"


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("424,visa,credit,US,Bank", "prefix must be 4 to 11 digits"),
        ("424242424242,visa,credit,US,Bank", "prefix must be"),
        ("42x2,visa,credit,US,Bank", "prefix must be"),
        ("４２４２,visa,credit,US,Bank", "prefix must be"),
        ("4242,Visa,credit,US,Bank", "brand must be one of visa,"),
        ("4242,visa,charge,US,Bank", "funding must be one of credit,"),
        ("4242,visa,credit,us,Bank", "country must be"),
        ("4242,visa,credit,USA,Bank", "country must be"),
        ("4242,visa,credit,US,", "issuing_bank must be"),
        (f"4242,visa,credit,US,{'x' * 101}", "issuing_bank must be"),
        ("4242,visa,credit,US", "5 columns are needed, here are 4"),
        ("4242,visa,credit,US,Bank,more", "5 columns are needed, here are 6"),
        ("5555,visa,credit,US,Bank", "5555 is there twice"),
        ('4242,visa,credit,US,"Bank', "unexpected end of data"),
    ],
)
def test_a_bad_line_is_refused_by_its_number(row: str, fault: str) -> None:
    with pytest.raises(bin_file.BadLine) as refusal:
        bin_file.read(csv("5555,mastercard,debit,PH,Second Bank", row))
    assert str(refusal.value).startswith("line 3: ")
    assert fault in str(refusal.value)


@pytest.mark.parametrize("lines", [[], ["\n"], ["prefix,brand\n"], ["4242,visa,credit,US,Bank\n"]])
def test_a_file_without_the_header_is_refused(lines: list[str]) -> None:
    with pytest.raises(bin_file.BadLine, match="line 1: the header must be prefix,brand,funding,country,issuing_bank"):
        bin_file.read(lines)
