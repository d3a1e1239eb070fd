"""Operators work for the merchants that they were given: whatever is of another is not there for them."""

from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Group, Permission, User
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from payments.admin.framework.base import BaseAdmin
from payments.domain.merchants.merchants import NewMerchant
from payments.models import LedgerDay, Merchant, MerchantAccess
from payments.overview.day_totals import sum_up_due
from payments.staff.roles import ALL_MERCHANTS
from tests.admin.conftest import House, house, text_of  # noqa: F401  something to be looked at
from tests.admin.test_pages import list_of, list_with, newest, page_of  # noqa: F401
from tests.client import REFUNDS_WAIT, signed_in
from tests.overview.past_charges import days_ago, make_past_charge
from tests.staff.test_roles import NAMES, WITHOUT_PAGE, address_of, rows  # noqa: F401

pytestmark = pytest.mark.long

# Rows without a merchant or about all merchants, which an operator for some merchants may not see.
OF_NO_MERCHANT = {
    "payments.ApprovalLimit",
    "payments.AuditEntry",
    "payments.BinRange",
    "payments.DataKey",
    "payments.FeeTemplate",
    "payments.LedgerDay",
    "payments.FileLayout",
    "payments.OwnBankAccount",
    "payments.PayoutFile",
    "payments.ReconciliationRun",
    "payments.ReportUpload",
    "simulator.SimulatedPayment",
    "simulator.SimulatedOperation",
    "simulator.SimulatedPayout",
    "simulator.Entry",
    "simulator.Message",
    "auth.User",
}
# The days of the ledger are shown to all; their pages sum the merchants of the operator alone.
OF_EVERYBODY = {LedgerDay}
PAGES: dict[type[Model], Any] = dict(admin.site._registry)


def operator_of(*shops: NewMerchant) -> Client:
    """Return a client whose user works for these shops and has all permissions but that to work for all."""
    user = User.objects.create(username="olive", is_staff=True)
    user.user_permissions.set(Permission.objects.exclude(codename="work_for_all_merchants"))
    MerchantAccess.objects.bulk_create(MerchantAccess(user=user, merchant=shop.merchant) for shop in shops)
    return signed_in(user)


@pytest.fixture(autouse=True)
def _the_password_is_enough(settings: Any) -> None:
    settings.ADMIN_MFA = False


@pytest.fixture
def elsewhere(newest: dict[type[Model], Model], other_shop: NewMerchant) -> Client:  # noqa: F811
    """Return an operator of another shop than the one that has all the rows."""
    return operator_of(other_shop)


def marks_of(house: House) -> list[str]:  # noqa: F811
    """Return the texts that show that a page is about the other shop."""
    charge = house.charge
    return ["Sari Store", "SARI STORE", house.shop.merchant.id.hex, charge["id"], "Halo-halo", "juan@example.com"]


def everything() -> dict[str, list[Any]]:
    """Return all our rows except the audit log, to which views are recorded."""
    labels = ("payments", "simulator", "customers")
    models = [model for label in labels for model in apps.get_app_config(label).get_models()]
    ours = [model for model in models if model.__name__ not in ("AuditEntry", "AuditHead")]
    return {model.__name__: list(model._base_manager.order_by("pk").values()) for model in ours}


def test_every_page_says_how_a_row_leads_to_its_merchant(db: None) -> None:
    for model, page in PAGES.items():
        assert isinstance(page, BaseAdmin), model
        if page.merchant_lookup:
            found = model._base_manager.filter(**{f"{page.merchant_lookup}__in": Merchant.objects.all()})
            assert not found.exists(), model
    none = {model._meta.label for model, page in PAGES.items() if page.merchant_lookup is None}
    assert none == OF_NO_MERCHANT


def test_the_overview_shows_nothing_of_another_merchant(elsewhere: Client, house: House) -> None:  # noqa: F811
    for address in (reverse("admin:index"), reverse("admin:app_list", args=["payments"])):
        text = text_of(elsewhere.get(address))
        assert [mark for mark in marks_of(house) if mark in text] == []


def test_rows_of_another_merchant_are_on_no_list_and_have_no_page_and_no_act(
    elsewhere: Client,
    rows: dict[str, Model],  # noqa: F811
    house: House,  # noqa: F811
) -> None:
    before = everything()
    for name in NAMES:
        address = address_of(name, rows)
        is_of_a_row = any(f"/{row.pk}/" in address for row in rows.values() if type(row) not in OF_EVERYBODY)
        for answer in (elsewhere.post(address, {"post": "yes"}), *_got(elsewhere, name, address)):
            text = b"".join(answer).decode()
            assert answer.status_code in (403, 404) or not is_of_a_row, name
            is_list = name.endswith("_changelist") and answer.wsgi_request.method == "GET"
            assert answer.status_code == 200 or not is_list, name
            assert [mark for mark in marks_of(house) if mark in text] == [], name
    assert everything() == before


def _got(client: Client, name: str, address: str) -> list[Any]:
    return [] if name in WITHOUT_PAGE else [client.get(address)]


def test_no_search_finds_what_is_of_another_merchant(
    elsewhere: Client,
    house: House,  # noqa: F811
    newest: dict[type[Model], Model],  # noqa: F811
) -> None:
    for prefix in ("ch", "src", "card", "re", "cus", "mer", "evt", "uuid", "last4"):
        for model, row in newest.items():
            assert model in OF_EVERYBODY or page_of(row) not in text_of(
                elsewhere.get(list_of(model), {"q": house.id_of(prefix)})
            ), model


def test_no_card_number_leads_to_what_is_of_another_merchant(elsewhere: Client) -> None:
    answer = elsewhere.post(reverse("admin:payments_charge_by_card"), {"number": REFUNDS_WAIT}, follow=True)
    assert "There is no charge on this card number." in text_of(answer)


def test_no_choice_of_a_filter_names_another_merchant(elsewhere: Client, house: House) -> None:  # noqa: F811
    query = {"app_label": "payments", "model_name": "merchantaccess", "field_name": "merchant"}
    assert "Sari Store" not in text_of(elsewhere.get(reverse("admin:autocomplete"), query))


def test_an_operator_sees_the_rows_of_their_merchants(
    newest: dict[type[Model], Model],  # noqa: F811
    house: House,  # noqa: F811
) -> None:
    client, seen = operator_of(house.shop), 0
    for model, row in newest.items():
        lookup = PAGES[model].merchant_lookup
        if lookup and model._base_manager.filter(pk=row.pk).filter(**{lookup: house.shop.merchant.pk}).exists():
            assert page_of(row) in text_of(client.get(list_with(row))), model
            assert client.get(page_of(row)).status_code == 200, model
            seen += 1
    assert seen > 15


def test_an_operator_who_lost_all_merchants_sees_nothing(house: House) -> None:  # noqa: F811
    client = operator_of(house.shop)
    MerchantAccess.objects.all().delete()
    for model, page in PAGES.items():
        text = text_of(client.get(list_of(model)))
        assert [mark for mark in marks_of(house) if mark in text] == [], model
        if page.merchant_lookup and (row := model._base_manager.first()):
            assert client.get(page_of(row)).status_code == 404, model
    text = text_of(client.get(reverse("admin:index")))
    assert "You work for no merchant yet." in text
    assert [mark for mark in marks_of(house) if mark in text] == []


def test_an_operator_for_all_merchants_sees_all(house: House, other_shop: NewMerchant) -> None:  # noqa: F811
    client = operator_of()
    User.objects.get(username="olive").groups.add(Group.objects.get_or_create(name=ALL_MERCHANTS)[0])
    text = text_of(client.get(list_of(Merchant)))
    assert ("Sari Store" in text, "Other Store" in text) == (True, True)
    assert "You work for no merchant yet." not in text_of(client.get(reverse("admin:index")))


def test_an_operator_for_two_merchants_sees_both(shop: NewMerchant, other_shop: NewMerchant) -> None:
    text = text_of(operator_of(shop, other_shop).get(list_of(Merchant)))
    assert "Sari Store" in text
    assert "Other Store" in text


def test_the_figures_of_the_first_page_are_of_their_merchants_alone(shop: NewMerchant, other_shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, days_ago(1), amount=777_700)
    make_past_charge(other_shop.merchant, days_ago(1), amount=123_400, hold=True)
    client, figures = operator_of(other_shop), []
    for _ in range(2):
        text = text_of(client.get(reverse("admin:index")))
        figures.append([amount in text for amount in ("1,234.00", "7,777.00", "9,011.00")])
        # Counted where they lie, and from then on summed up.
        sum_up_due()
    assert figures == [[True, False, False]] * 2
