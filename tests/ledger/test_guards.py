"""The database's own guards of the ledger."""

import os
from collections.abc import Iterator

import pytest
from django.db import IntegrityError, ProgrammingError, connection, transaction

from payments.ids import new_id
from payments.models import Charge, Merchant, Posting, Settlement
from tests.client import Api
from tests.factories import ChargeFactory, MerchantFactory
from tests.ledger.books import settle

# Of this process alone, for roles are shared by all databases of a server.
ROLE = f"kaha_application_{os.getpid()}"
Line = tuple[str, int]


def lines(charge: Charge, /, *amounts: Line, **other: object) -> list[Posting]:
    """Return a charge's journal by account and amount; `other` overrides members of its last line."""
    common = {"journal": new_id(), "charge": charge, "kind": "capture"}
    scope = {"merchant": charge.merchant, "livemode": charge.livemode, "currency": charge.currency}
    rows = [
        Posting(**common | scope, line=number, account=account, amount=amount)
        for number, (account, amount) in enumerate(amounts, 1)
    ]
    for name, value in other.items():
        setattr(rows[-1], name, value)
    return rows


def commit(postings: list[Posting]) -> None:
    """Post them in one statement."""
    with transaction.atomic():
        Posting.objects.bulk_create(postings)


@pytest.fixture
def charge(db: None) -> Charge:
    return ChargeFactory(is_captured=True)


def test_a_balanced_journal_is_accepted(charge: Charge) -> None:
    commit(lines(charge, ("provider_receivable", 5), ("merchant_pending", -4), ("fees", -1)))
    assert Posting.objects.count() == 3


@pytest.mark.parametrize(
    "amounts",
    [
        [("provider_receivable", 5)],
        [("provider_receivable", 5), ("merchant_pending", -4)],
        [("provider_hold", 5), ("merchant_pending", -5)],
        [("provider_hold", 5), ("merchant_hold", -4), ("merchant_pending", -1)],
    ],
    ids=["one-sided", "unequal", "memo against money", "memo mixed with money"],
)
def test_a_journal_that_does_not_balance_is_refused(charge: Charge, amounts: list[Line]) -> None:
    with pytest.raises(IntegrityError, match="does not balance"):
        commit(lines(charge, *amounts))


@pytest.mark.parametrize("name", ["charge", "merchant", "livemode", "currency"])
def test_a_journal_with_two_owners_is_refused(charge: Charge, name: str) -> None:
    other = {"charge": ChargeFactory(), "merchant": MerchantFactory(), "livemode": True, "currency": "JPY"}[name]
    with pytest.raises(IntegrityError, match="does not balance"):
        commit(lines(charge, ("provider_receivable", 5), ("merchant_pending", -5), **{name: other}))


@pytest.mark.parametrize("name", ["charge_id", "merchant_id", "livemode", "currency"])
def test_a_journal_of_another_owner_than_its_charges_is_refused(charge: Charge, name: str) -> None:
    journal = lines(charge, ("provider_receivable", 5), ("merchant_pending", -5))
    other = {"charge_id": new_id(), "merchant_id": MerchantFactory().id, "livemode": True, "currency": "JPY"}[name]
    for line in journal:
        setattr(line, name, other)
    with pytest.raises(IntegrityError, match="not about one charge or payout"):
        commit(journal)


@pytest.mark.parametrize("table", ["charge", "merchant"])
def test_what_rows_without_a_foreign_key_refer_to_is_never_deleted(charge: Charge, table: str) -> None:
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM payments_{table}")


def test_nothing_is_added_to_a_journal_that_balances(charge: Charge) -> None:
    journal = lines(charge, ("provider_receivable", 5), ("merchant_pending", -5), ("fees", -1))
    commit(journal[:2])
    with pytest.raises(IntegrityError, match="does not balance"):
        commit(journal[2:])


@pytest.mark.parametrize(
    ("number", "rule"),
    [
        (2, "does not balance"),
        (4, "does not balance"),
        (0, "posting_line_in_range"),
        (30, "posting_line_in_range"),
        (33, "posting_line_in_range"),
    ],
    ids=["twice", "gap", "none", "too many", "wraps"],
)
def test_lines_are_numbered_from_one_each_once(charge: Charge, number: int, rule: str) -> None:
    with pytest.raises(IntegrityError, match=rule):
        commit(lines(charge, ("provider_receivable", 5), ("merchant_pending", -4), ("fees", -1), line=number))


def test_a_journal_is_begun_once(charge: Charge) -> None:
    journal = lines(charge, ("provider_receivable", 5), ("merchant_pending", -5))
    commit(journal)
    for line in journal:
        line.id = new_id()
    with pytest.raises(IntegrityError, match="posting_starts_journal_once"):
        commit(journal)


def test_a_line_that_moves_nothing_is_refused(charge: Charge) -> None:
    with pytest.raises(IntegrityError, match="posting_moves_something"):
        commit(lines(charge, ("provider_receivable", 0)))


def test_a_line_settles_in_a_settlement_and_no_other_does(charge: Charge) -> None:
    with pytest.raises(IntegrityError, match="posting_settles_in_a_settlement"):
        commit(lines(charge, ("bank", 5), ("provider_receivable", -5), kind="settle"))


def test_each_statement_leaves_its_journal_balanced(charge: Charge) -> None:
    first, second = lines(charge, ("provider_receivable", 5), ("merchant_pending", -5))
    with pytest.raises(IntegrityError, match="does not balance"), transaction.atomic():
        first.save(force_insert=True)
    commit([first, second])


def test_one_of_many_journals_that_does_not_balance_is_refused(charge: Charge) -> None:
    good = lines(charge, ("provider_receivable", 5), ("merchant_pending", -5))
    with pytest.raises(IntegrityError, match="does not balance"):
        commit([*good, *lines(charge, ("provider_receivable", 5), ("merchant_pending", -4))])


@pytest.mark.parametrize("model", [Posting, Settlement])
@pytest.mark.parametrize("statement", ["UPDATE {} SET currency = 'JPY'", "DELETE FROM {}"], ids=["update", "delete"])
def test_the_books_are_append_only_even_for_a_superuser(
    api: Api, model: type[Posting | Settlement], statement: str
) -> None:
    api.charge()
    settle()
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement.format(model._meta.db_table))


@pytest.fixture
def application(db: None) -> Iterator[None]:
    """Run as a role that is no superuser and owns the tables, as in production."""
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE ROLE {ROLE}")
        cursor.execute(f"GRANT USAGE ON SCHEMA public TO {ROLE}")
        cursor.execute(f"ALTER TABLE payments_posting OWNER TO {ROLE}")
        cursor.execute(f"SET LOCAL ROLE {ROLE}")
        yield
        cursor.execute("RESET ROLE")


@pytest.mark.parametrize("statement", ["UPDATE {} SET amount = 1", "DELETE FROM {}"], ids=["update", "delete"])
def test_the_application_has_no_right_to_change_the_books(application: None, statement: str) -> None:
    with (
        pytest.raises(ProgrammingError, match="permission denied"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement.format("payments_posting"))


def test_the_application_has_the_right_to_read_and_add_to_the_books(application: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT has_table_privilege('payments_posting', 'SELECT, INSERT')")
        assert cursor.fetchone() == (True,)


RATE = {"basis_points": 350, "fixed": 15}
BAD_RATES = [
    [],
    7,
    {"card": 7},
    {"card": [RATE]},
    {"card": {"PHP": 7}},
    {"card": {"PHP": [RATE]}},
    {"card": {"PHP": {}}},
    {"card": {"PHP": {"basis_points": 350}}},
    {"card": {"PHP": RATE | {"basis_points": "350"}}},
    {"card": {"PHP": RATE | {"basis_points": None}}},
    {"card": {"PHP": RATE | {"basis_points": 3.5}}},
    {"card": {"PHP": RATE | {"basis_points": -1}}},
    {"card": {"PHP": RATE | {"basis_points": 10_001}}},
    {"card": {"PHP": RATE | {"fixed": True}}},
    {"card": {"PHP": RATE | {"fixed": -1}}},
    {"card": {"PHP": RATE, "JPY": RATE | {"fixed": "15"}}},
]


@pytest.mark.parametrize("rates", BAD_RATES, ids=str)
def test_a_malformed_rate_is_refused(db: None, rates: object) -> None:
    merchant = MerchantFactory()
    with pytest.raises(IntegrityError, match="merchant_rates_are_rates"), transaction.atomic():
        Merchant.objects.filter(id=merchant.id).update(rates=rates)


@pytest.mark.parametrize(
    "rates", [{}, {"card": {}}, {"card": {"PHP": RATE, "JPY": RATE}, "gcash": {"PHP": RATE}}], ids=str
)
def test_valid_rates_are_accepted(db: None, rates: object) -> None:
    assert Merchant.objects.filter(id=MerchantFactory().id).update(rates=rates) == 1


@pytest.mark.parametrize(
    "settings",
    [
        [],
        {"card": True},
        {"card": {}},
        {"card": {"enabled": 1}},
        {"card": [{}]},
        {"card": {"enabled": True, "live": 1}},
    ],
    ids=str,
)
def test_a_malformed_payment_method_switch_is_refused(db: None, settings: object) -> None:
    merchant = MerchantFactory()
    with pytest.raises(IntegrityError, match="merchant_payment_methods"), transaction.atomic():
        Merchant.objects.filter(id=merchant.id).update(payment_method_settings=settings)
