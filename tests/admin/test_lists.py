"""What every list offers: the mode, chosen filters, sums, saved views and the order."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from payments.admin.framework import index_scan
from payments.admin.lists import page, sums
from payments.models import Charge, Event, Refund, SavedView
from tests.admin.conftest import House, client_of, text_of, words_of
from tests.admin.test_pages import list_of, page_of
from tests.admin.test_pagination import newest_first, shown_on, walk
from tests.contract.lists.many_charges import sell
from tests.factories import ChargeFactory, MerchantFactory

pytestmark = pytest.mark.long

CHARGES, MODE = list_of(Charge), reverse("admin:mode")
SAVE, DROP = reverse("admin:payments_charge_saveview"), reverse("admin:payments_charge_dropview")


def both_modes() -> tuple[Charge, Charge]:
    return ChargeFactory(is_held=True, livemode=True), ChargeFactory(is_held=True)


def shown(client: Client, **query: str) -> list[str]:
    return shown_on(text_of(client.get(CHARGES, query)))


def test_the_chosen_mode_stays_for_all_pages_of_the_session(operator: Client) -> None:
    live, test = both_modes()
    response = operator.post(MODE, {"mode": "live", "next": f"{CHARGES}?money=held&p=older.x&mode=test"})
    assert response["Location"] == f"{CHARGES}?money=held"
    assert shown(operator) == [str(live.pk)]
    assert "mode-live" in text_of(operator.get(reverse("admin:index")))
    operator.post(MODE, {"mode": "test", "next": CHARGES})
    assert shown(operator) == [str(test.pk)]
    assert "mode-test" in text_of(operator.get(CHARGES))


def test_a_mode_in_an_address_is_that_of_its_page_alone(operator: Client) -> None:
    live, test = both_modes()
    operator.post(MODE, {"mode": "test", "next": CHARGES})
    assert shown(operator, mode="live") == [str(live.pk)]
    assert shown(operator) == [str(test.pk)]


def test_the_switch_leads_to_no_other_site(operator: Client) -> None:
    response = operator.post(MODE, {"mode": "live", "next": "https://elsewhere.example/"})
    assert response["Location"] == reverse("admin:index")


def test_an_unknown_mode_is_refused(operator: Client) -> None:
    assert operator.post(MODE, {"mode": "both"}).status_code == 400


def test_a_whole_id_is_found_in_either_mode(operator: Client) -> None:
    live, _ = both_modes()
    assert shown(operator, mode="test", q=str(live)) == [str(live.pk)]


def test_the_page_of_a_row_says_its_own_mode(operator: Client) -> None:
    live, _ = both_modes()
    operator.post(MODE, {"mode": "test", "next": CHARGES})
    assert "This is live mode: real money." in words_of(operator.get(page_of(live)))


def test_an_id_is_short_and_can_be_copied_whole(house: House, operator: Client) -> None:
    whole = str(Refund.objects.get())
    text = text_of(operator.get(page_of(Event.objects.filter(object_id=Refund.objects.get().pk).latest("pk"))))
    assert f'title="{whole}" data-copy="{whole}">{whole[:7]}…{whole[-4:]}</span>' in text


def test_each_chosen_filter_is_removed_alone(operator: Client) -> None:
    text = text_of(operator.get(CHARGES, {"money": "held", "least": "5", "currency": "PHP", "q": "rice"}))
    without = dict(re.findall(r'href="(\S*)" aria-label="Remove ([^"]*)"', text))
    found = {label: address for address, label in without.items()}
    assert found.keys() == {"Search: rice", "State: Held", "Amount: from 5.00 PHP"}
    assert found["Amount: from 5.00 PHP"] in ("?money=held&amp;q=rice", "?q=rice&amp;money=held")


def test_a_chosen_id_is_shown_in_words(house: House, operator: Client) -> None:
    text = text_of(operator.get(list_of(Event), {"q": house.id_of("mer")}))
    assert "Search: <strong>one merchant</strong>" in text


def test_a_filtered_list_is_summed_up_by_currency(operator: Client) -> None:
    for amount, currency in ((10_000, "PHP"), (2_500, "PHP"), (700, "USD")):
        ChargeFactory(is_held=True, amount=amount, currency=currency)
    ChargeFactory(is_failed=True, amount=99_900)
    ChargeFactory(is_held=True, livemode=True, amount=88_800)
    assert "3 charges ₱125.00 in 2 USD 7.00 in 1" in words_of(operator.get(CHARGES, {"money": "held"}))


def test_a_list_that_is_too_long_is_not_summed_up(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sums, "MOST_SUMMED", 2)
    sell(MerchantFactory(), 3)
    assert "More than 2 charges: too many to sum up here." in words_of(operator.get(CHARGES))


@pytest.mark.parametrize("start", ["", "last"])
def test_a_list_that_cannot_be_searched_as_a_whole_is_not_summed_up_on_any_page(
    start: str, operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    sell(MerchantFactory(), 4)
    query = {"least": "1", "currency": "PHP", "p": start}
    assert "too many to sum up here" not in words_of(operator.get(CHARGES, query))
    monkeypatch.setattr(index_scan, "SEARCHED_ROWS", 2)
    assert "too many to sum up here" in words_of(operator.get(CHARGES, query))


def test_a_list_sorted_by_its_oldest_shows_every_row_once(operator: Client) -> None:
    sell(MerchantFactory(), 107)
    [column] = set(re.findall(r'href="\?o=(\d)"', text_of(operator.get(CHARGES))))
    pages = list(walk(operator, f"?o={column}", "Newer"))
    assert [pk for shown_page in pages for pk in shown_page] == newest_first()[::-1]
    assert [len(shown_page) for shown_page in pages] == [50, 50, 7]
    back = list(walk(operator, f"?o={column}&p=first", "Older"))
    assert [pk for shown_page in back for pk in shown_page[::-1]] == newest_first()


def test_no_other_column_sorts_a_long_list(operator: Client) -> None:
    ChargeFactory(is_held=True)
    offered = set(re.findall(r'href="\?o=-?(\d)"', text_of(operator.get(CHARGES))))
    assert len(offered) == 1


def test_filters_are_saved_under_a_name_and_listed(operator: Client) -> None:
    operator.post(SAVE, {"name": "Held today", "query": "money=held&p=older.x&mode=live&o=1"})
    assert SavedView.objects.get().query == "money=held"
    assert '<a href="?money=held" aria-current="true">Held today</a>' in text_of(
        operator.get(CHARGES, {"money": "held"})
    )
    operator.post(SAVE, {"name": "Held today", "query": "money=expiring"})
    assert SavedView.objects.get().query == "money=expiring"


def test_nobody_sees_or_deletes_the_view_of_another(operator: Client, ana: Client) -> None:
    operator.post(SAVE, {"name": "Mine", "query": "money=held"})
    view = SavedView.objects.get()
    assert "Mine" not in text_of(ana.get(CHARGES))
    assert ana.post(DROP, {"view": view.pk}).status_code == 404
    assert operator.post(DROP, {"view": view.pk}).status_code == 302
    assert not SavedView.objects.exists()


def test_an_operator_has_a_limited_number_of_views(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "MOST_VIEWS", 2)
    for name in ("one", "two", "three"):
        response = operator.post(SAVE, {"name": name, "query": "money=held"}, follow=True)
    assert "Delete one first." in words_of(response)
    assert SavedView.objects.count() == 2


@pytest.mark.parametrize("query", ["q=4000000000003055", "q=" + "x" * 1001], ids=["card number", "long"])
def test_what_no_address_may_have_is_not_saved(query: str, operator: Client) -> None:
    operator.post(SAVE, {"name": "x", "query": query})
    assert not SavedView.objects.exists()


def test_who_may_not_see_a_list_saves_nothing_about_it(db: None) -> None:
    client = client_of("cora", "view_refund")
    assert client.post(SAVE, {"name": "x", "query": "money=held"}).status_code == 403
