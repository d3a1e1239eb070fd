import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Model
from django.test import Client, RequestFactory

from payments.models import ApprovalLimit, AuditEntry, BinRange, Charge, FeeTemplate, Merchant, Refund, Source
from payments.models.books.bank_account import OwnBankAccount
from tests.admin.conftest import House, text_of
from tests.admin.forms import forms_of
from tests.admin.test_pages import SHOWN, list_of, page_of
from tests.factories import ChargeFactory, MerchantFactory

EDITABLE = {Merchant, BinRange, ApprovalLimit, FeeTemplate, OwnBankAccount}
LOOKED_AT = [model for model in SHOWN if model not in EDITABLE]


@pytest.mark.parametrize("model", [Charge, Refund, Source], ids=lambda model: model.__name__)
def test_money_is_not_moved_by_hand(model: type[Model], house: House, operator: Client) -> None:
    row = model._default_manager.latest("pk")
    before = model._default_manager.filter(pk=row.pk).values().get()
    forged = {"amount": 1, "amount_captured": 1, "amount_refunded": 0, "status": "refunded", "used": ""}
    assert operator.post(page_of(row), forged).status_code == 403
    assert model._default_manager.filter(pk=row.pk).values().get() == before


def test_what_the_service_writes_is_only_looked_at(rf: RequestFactory) -> None:
    request = rf.get("/")
    request.user = User(is_superuser=True)
    for model in LOOKED_AT:
        page = admin.site._registry[model]
        may = (page.has_add_permission, page.has_change_permission, page.has_delete_permission)
        assert page.has_view_permission(request), model
        assert not any(permission(request) for permission in may), model


@pytest.mark.parametrize("verb", ["delete", "add"])
def test_a_charge_is_neither_made_nor_deleted_here(verb: str, operator: Client) -> None:
    charge = ChargeFactory(is_held=True)
    address = list_of(Charge) + "add/" if verb == "add" else page_of(charge).replace("change", "delete")
    assert operator.post(address, {"post": "yes"}).status_code == 403
    assert Charge.objects.filter(id=charge.id).exists()


def merchant_form(**changed: str) -> dict[str, str]:
    form = {
        "title": "Sari",
        "account_name": "Sari Inc",
        "statement_descriptor": "SARI",
        "status": "active",
        "brand_color": "#aa0000",
        "kept_bodies": "none",
        "business_address": "12 Session Road",
        "reason": "Ticket 77",
        "keys-TOTAL_FORMS": "0",
        "keys-INITIAL_FORMS": "0",
    }
    return form | changed


def test_a_page_shows_facts_and_leads_to_its_form_and_back(operator: Client) -> None:
    page = page_of(MerchantFactory(title="Sari Store", account_name="Sari Inc"))
    shown = text_of(operator.get(page))
    assert "<dd>Sari Inc</dd>" in shown
    assert not any("title" in one.values for one in forms_of(page, shown))
    assert 'href="?edit=1"' in shown
    edit = f"{page}?edit=1"
    (form,) = (one for one in forms_of(edit, text_of(operator.get(edit))) if "title" in one.values)
    assert form.send(operator, {"account_name": "Sari Limited", "reason": "Ticket 77"})["Location"] == page
    assert "<dd>Sari Limited</dd>" in text_of(operator.get(page))


def test_a_merchant_may_be_renamed(operator: Client) -> None:
    merchant = MerchantFactory()
    assert operator.post(page_of(merchant), merchant_form()).status_code == 302
    renamed = Merchant.objects.get()
    assert (renamed.title, renamed.branding, renamed.business_address) == (
        "Sari",
        {"brand_color": "#aa0000"},
        "12 Session Road",
    )
    assert renamed.updated_at > merchant.updated_at


def test_the_branding_has_fields_and_a_preview(operator: Client) -> None:
    merchant = MerchantFactory()
    fields = {"use_logo": "on", "brand_color": "#ffe600"}
    assert operator.post(page_of(merchant), merchant_form(**fields)).status_code == 302
    assert Merchant.objects.get().branding == {"use_logo": True, "brand_color": "#ffe600"}
    assert 'fill="#ffe600"' in text_of(operator.get(page_of(merchant)))
    assert "/set-picture/" in text_of(operator.get(f"{page_of(merchant)}?edit=1"))


def test_why_a_merchant_was_renamed_is_recorded(operator: Client) -> None:
    operator.post(page_of(MerchantFactory(status="active")), merchant_form(business_address=""))
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.reason) == ("changed", "Ticket 77")
    assert set(entry.fields) == {"title", "account_name", "statement_descriptor", "brand_color"}


@pytest.mark.parametrize("reason", ["", "paid with 4242424242424242"])
def test_no_merchant_is_renamed_without_a_reason_that_may_be_kept(reason: str, operator: Client) -> None:
    merchant = MerchantFactory()
    text = text_of(operator.post(page_of(merchant), merchant_form(reason=reason)))
    assert "errorlist" in text
    assert "4242424242424242" not in text
    assert Merchant.objects.get().title == merchant.title


@pytest.mark.long
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("statement_descriptor", "A*"),
        ("brand_color", "red"),
        ("accent_color", "#12345"),
        ("business_address", "x" * 256),
        ("status", "rich"),
    ],
)
def test_a_merchant_does_not_get_what_the_api_could_not_show(field: str, value: str, operator: Client) -> None:
    merchant = MerchantFactory()
    assert "errorlist" in text_of(operator.post(page_of(merchant), merchant_form(**{field: value})))
    assert Merchant.objects.get().title == merchant.title


def test_terms_of_a_merchant_are_not_changed_here(operator: Client) -> None:
    rates = {"card": {"PHP": {"basis_points": 290, "fixed": 0}}}
    merchant = MerchantFactory(rates=rates)
    operator.post(page_of(merchant), merchant_form(rates="{}", metadata="{}"))
    assert Merchant.objects.get().rates == rates


BIN = {"prefix": "411111", "brand": "visa", "funding": "debit", "country": "PH", "issuing_bank": "Bank of Baguio"}


def test_a_bin_range_may_be_added_changed_and_deleted(operator: Client) -> None:
    assert operator.post(list_of(BinRange) + "add/", BIN).status_code == 302
    row = BinRange.objects.get(prefix="411111")
    assert operator.post(page_of(row), BIN | {"funding": "credit", "prefix": "422222"}).status_code == 302
    assert list(BinRange.objects.values_list("prefix", "funding")) == [("411111", "credit")]
    operator.post(page_of(row).replace("change", "delete"), {"post": "yes"})
    assert not BinRange.objects.exists()


@pytest.mark.long
@pytest.mark.parametrize(
    ("field", "value"), [("prefix", "41x"), ("prefix", "411111111111"), ("brand", "amux"), ("country", "ph")]
)
def test_a_bin_range_that_could_not_be_used_is_refused(field: str, value: str, operator: Client) -> None:
    text_of(operator.post(list_of(BinRange) + "add/", BIN | {field: value}))
    assert not BinRange.objects.exists()
