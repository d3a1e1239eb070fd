"""The search on every page of the admin: an ID leads to its page, anything else to what has it."""

import re
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.urls import reverse

from customers.models import Customer
from payments.ids import new_id, parse_id, public_id
from payments.models import Charge, MerchantAccess, Refund, SearchProgress
from payments.search.sweep import rebuild
from payments.staff.admin_site import search_page
from payments.staff.admin_site.navigation import SECTIONS
from tests.admin.conftest import IDEMPOTENCY_KEY, House, house, operator, text_of  # noqa: F401  something to be found
from tests.client import APPROVED, signed_in
from tests.factories import ChargeFactory, MerchantFactory
from tests.plans import use_indexes

# `house` is built with much of everything.
long = pytest.mark.long

FIND = reverse("admin:find")


@pytest.fixture(autouse=True)
def _the_password_is_enough(settings: Any) -> None:
    settings.ADMIN_MFA = False


def page_of(row: Any) -> str:
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])


def list_for(term: str) -> str:
    return f"{reverse('admin:payments_charge_changelist')}?q={term}"


def found(client: Client, term: str) -> str:
    """Return the address to which a search for `term` redirects."""
    return client.get(FIND, {"q": term}).headers["Location"]


@long
@pytest.mark.parametrize("prefix", ["ch", "re", "src", "cus", "mer", "evt"])
def test_an_id_leads_to_the_page_of_what_it_names(prefix: str, house: House, operator: Client) -> None:  # noqa: F811
    public_id = house.id_of(prefix)
    place = found(operator, f" {public_id} ")
    assert public_id.partition("_")[2] in place.replace("-", "")
    assert operator.get(place).status_code == 200


def test_what_has_a_name_with_one_error_is_shown_as_such(operator: Client, db: None) -> None:  # noqa: F811
    MerchantFactory(title="Lakbay Hotels")
    text = text_of(operator.get(FIND, {"q": "lakbya"}))
    assert "Nothing has exactly this." in text
    assert "Lakbay Hotels" in text


@long
def test_an_id_without_its_prefix_is_found_too(house: House, operator: Client) -> None:  # noqa: F811
    assert found(operator, house.id_of("uuid")) == page_of(Charge.objects.get())


@long
def test_a_request_leads_to_the_charges_that_it_changed(house: House, operator: Client) -> None:  # noqa: F811
    place = found(operator, house.id_of("req"))
    assert place == list_for(house.id_of("req"))
    row = reverse("admin:payments_charge_change", args=[parse_id("ch", house.charge["id"])])
    assert row in text_of(operator.get(place))


@long
@pytest.mark.parametrize("term", ["1,234.50", "1234.50 halo today", "juan dela cruz", IDEMPOTENCY_KEY, "halo"])
def test_each_fact_of_a_payment_leads_to_it(
    term: str,
    house: House,  # noqa: F811
    operator: Client,  # noqa: F811
) -> None:
    rebuild()
    text = text_of(operator.get(FIND, {"q": term}))
    assert page_of(Charge.objects.get()) in text
    assert "₱1,234.50" in text


@long
def test_customers_and_merchants_are_found_by_name_in_groups_of_their_own(house: House, operator: Client) -> None:  # noqa: F811
    rebuild()
    by_address = text_of(operator.get(FIND, {"q": "juan@example.com"}))
    assert page_of(Customer.objects.get()) in by_address
    by_name = text_of(operator.get(FIND, {"q": "sari store"}))
    assert [place in by_name for place in map(page_of, (house.shop.merchant, Charge.objects.get()))] == [True, True]


def test_more_than_ten_charges_lead_to_the_list_of_all(operator: Client, db: None) -> None:  # noqa: F811
    charges = [ChargeFactory(is_captured=True, description="Turon") for _ in range(11)]
    rebuild()
    text = text_of(operator.get(FIND, {"q": "turon"}))
    assert f'href="{list_for("turon")}&amp;mode=test"' in text
    everything = text_of(operator.get(list_for("turon")))
    assert all(page_of(charge) in everything for charge in charges)


@long
def test_a_search_in_vain_says_what_was_looked_for_and_offers_less(house: House, operator: Client) -> None:  # noqa: F811
    rebuild()
    text = text_of(operator.get(FIND, {"q": "9999 halo 2026-01-02"}))
    assert "a card that ends in 9999, an amount of 9,999.00 or a word that begins with “9999”" in text
    assert "created on 02 Jan 2026" in text
    assert "Nothing was found" in text
    for fewer in ("halo 2026-01-02", "9999 2026-01-02", "9999 halo"):
        assert f'href="?q={quote(fewer)}"' in text


def test_signs_alone_find_nothing_and_are_said_to_be_nothing(operator: Client, db: None) -> None:  # noqa: F811
    assert "has no letter and no digit" in text_of(operator.get(FIND, {"q": "-"}))


def test_a_search_that_takes_too_long_is_ended_with_advice(
    operator: Client,  # noqa: F811
    db: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ChargeFactory(is_captured=True, description="Halo-halo")
    rebuild()
    monkeypatch.setattr(search_page, "STATEMENT_TIMEOUT", "20ms")
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE payments_searchentry RENAME TO entries")
        cursor.execute("CREATE VIEW payments_searchentry AS SELECT entries.* FROM entries, pg_sleep(1)")
    assert "the search was ended" in text_of(operator.get(FIND, {"q": "halo"}))


@long
def test_a_search_finds_nothing_that_its_reader_may_not_see(house: House) -> None:  # noqa: F811
    rebuild()
    client = member("view_charge", "view_customer")
    MerchantAccess.objects.create(user=User.objects.get(username="ben"), merchant=MerchantFactory())
    assert "Nothing was found" in text_of(client.get(FIND, {"q": "juan"}))
    MerchantAccess.objects.create(user=User.objects.get(username="ben"), merchant=house.shop.merchant)
    assert page_of(Charge.objects.get()) in text_of(client.get(FIND, {"q": "juan"}))


@long
def test_the_page_says_up_to_when_everything_is_found(house: House, operator: Client) -> None:  # noqa: F811
    assert "has not made the search entries yet" in text_of(operator.get(FIND, {"q": "halo"}))
    SearchProgress.objects.create(complete_to=datetime(2026, 11, 22, 9, 30, tzinfo=UTC))
    assert "is found by its ID only" in text_of(operator.get(FIND, {"q": "halo"}))


@long
def test_an_id_of_nothing_leads_to_an_empty_list(house: House, operator: Client) -> None:  # noqa: F811
    nothing = f"ch_{'0' * 32}"
    assert found(operator, nothing) == list_for(nothing)


@long
def test_a_card_number_is_looked_for_nowhere(house: House, operator: Client) -> None:  # noqa: F811
    response = operator.post(FIND, {"q": APPROVED}, follow=True)
    assert "never by its number" in text_of(response)
    assert APPROVED not in str(response.redirect_chain) + text_of(response)


@long
@pytest.mark.parametrize("digits", [8, 20, 31])
def test_the_beginning_of_an_id_leads_to_the_only_row_that_has_it(
    digits: int,
    house: House,  # noqa: F811
    operator: Client,  # noqa: F811
) -> None:
    beginning = house.charge["id"][: len("ch_") + digits]
    assert found(operator, f" {beginning.upper().replace('CH_', 'ch_')} ") == page_of(Charge.objects.get())


@long
def test_a_beginning_shorter_than_eight_digits_is_looked_for_as_text(house: House, operator: Client) -> None:  # noqa: F811
    short = house.charge["id"][: len("ch_") + 7]
    assert f"a word that begins with “{short}”" in text_of(operator.get(FIND, {"q": short}))


def test_a_beginning_of_many_ids_lists_the_newest_ten(operator: Client, db: None) -> None:  # noqa: F811
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    merchants = sorted((MerchantFactory(id=new_id(moment)) for _ in range(11)), key=lambda one: one.pk)
    text = text_of(operator.get(FIND, {"q": public_id("mer", merchants[0].pk)[: len("mer_") + 8]}))
    assert [page_of(one) in text for one in merchants] == [False] + [True] * 10
    assert "These are the newest 10." in text


@long
def test_a_beginning_of_nothing_says_what_was_looked_for(house: House, operator: Client) -> None:  # noqa: F811
    text = text_of(operator.get(FIND, {"q": "ch_00000000"}))
    assert "IDs that begin with <code>ch_00000000</code>" in text
    assert "Nothing was found" in text


@long
def test_a_beginning_is_found_among_the_operators_merchants_alone(house: House) -> None:  # noqa: F811
    client, beginning = member("view_refund"), house.id_of("re")[: len("re_") + 31]
    MerchantAccess.objects.create(user=User.objects.get(username="ben"), merchant=MerchantFactory())
    assert "Nothing was found" in text_of(client.get(FIND, {"q": beginning}))
    MerchantAccess.objects.create(user=User.objects.get(username="ben"), merchant=house.shop.merchant)
    assert found(client, beginning) == page_of(Refund.objects.get())


@long
def test_a_beginning_finds_nothing_that_its_reader_may_not_view(house: House) -> None:  # noqa: F811
    client = member("view_charge", "work_for_all_merchants")
    assert "Nothing was found" in text_of(client.get(FIND, {"q": house.id_of("re")[: len("re_") + 31]}))


def test_a_beginning_is_a_range_of_the_primary_key(db: None) -> None:
    page: Any = admin.site.get_model_admin(Charge)
    use_indexes()
    plan = Charge.objects.filter(**page.search.begun_by("ch_0199abcd")).order_by("-pk")[:11].explain()
    # Which of the indexes that begin with the ID is taken depends on what is in the table.
    assert "Index Cond: ((id >= '0199abcd-0000-" in plan


def test_outsiders_are_sent_to_the_login(db: None) -> None:
    assert found(Client(), "ch").startswith(reverse("admin:login"))


def member(*permissions: str) -> Client:
    user = User.objects.create(username="ben", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    return signed_in(user)


@long
def test_nobody_is_led_to_what_they_may_not_see(house: House) -> None:  # noqa: F811
    refund = house.id_of("re")
    assert found(member("view_charge", "work_for_all_merchants"), refund) == list_for(refund)


@long
def test_a_limited_operator_is_not_led_to_other_merchants(house: House) -> None:  # noqa: F811
    client = member("view_charge", "view_refund")
    MerchantAccess.objects.create(user=User.objects.get(username="ben"), merchant=MerchantFactory())
    assert found(client, house.id_of("re")) == list_for(house.id_of("re"))
    MerchantAccess.objects.create(user=User.objects.get(username="ben"), merchant=house.shop.merchant)
    assert found(client, house.id_of("re")) == page_of(Refund.objects.get())


def test_every_list_of_the_admin_is_in_the_navigation_once(operator: Client) -> None:  # noqa: F811
    sections = [section for sections in SECTIONS.values() for section in sections]
    listed = [page for section in sections for page in section.pages if "." in page]
    assert sorted(listed) == sorted(model._meta.label_lower for model in admin.site._registry)
    assert len(sections) <= 12


def test_the_navigation_has_what_the_reader_may_see_and_says_where_they_are(db: None) -> None:
    text = text_of(member("view_charge").get(reverse("admin:payments_charge_changelist")))
    assert f'<a href="{reverse("admin:payments_charge_changelist")}" aria-current="page">' in text
    assert reverse("admin:payments_refund_changelist") not in text
    assert reverse("admin:payments_dispute_changelist") not in text


def test_the_lists_of_a_section_are_tabs_of_it(db: None) -> None:
    text = text_of(member("view_charge", "view_refund").get(reverse("admin:payments_refund_changelist")))
    tabs = re.findall(r'<nav class="tabs" aria-label="(\w+)">(.*?)</nav>', text, re.DOTALL)
    assert [(name, re.findall(r"<a [^>]*>([^<]*)<", links)) for name, links in tabs] == [
        ("Payments", ["Charges", "Refunds"])
    ]


def test_the_page_of_a_row_leads_back_to_its_list(house: House) -> None:  # noqa: F811
    client = member("view_charge", "view_refund", "work_for_all_merchants")
    text = text_of(client.get(page_of(Refund.objects.get())))
    back = re.search(r'<a class="back" href="([^"]*)">', text)
    assert back
    assert back[1] == reverse("admin:payments_refund_changelist")


@pytest.mark.parametrize("term", ["a\0b", "\0"])
def test_a_term_that_no_row_can_hold_finds_nothing(term: str, operator: Client) -> None:  # noqa: F811
    page = operator.get(FIND, {"q": term})
    assert "othing" in text_of(page)


def test_a_text_that_cannot_be_stored_is_refused_with_a_word(operator: Client) -> None:  # noqa: F811
    page = operator.post(reverse("admin:payments_charge_saveview"), {"name": "a\0b"}, headers={"Accept": "text/html"})
    assert page.status_code == 400
    assert "name: This holds a character that cannot be stored" in page.content.decode()
