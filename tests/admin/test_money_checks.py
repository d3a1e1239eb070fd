from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from payments import clock
from payments.models import Charge, MoneyCheck
from tests.admin.conftest import text_of
from tests.admin.test_pages import list_of, page_of
from tests.client import Api
from tests.staff.all_merchants import for_all
from tests.sweeps.factories import a_worker, all_swept

INDEX = reverse("admin:index")


def checked(*failures: dict[str, Any], whole: bool = True, **ago: float) -> MoneyCheck:
    """Return a run that ended so long ago."""
    moment = clock.now() - timedelta(**ago)
    names = ["refunds_add_up"]
    return MoneyCheck.objects.create(
        whole=whole, invariants=names, failures=list(failures), started_at=moment, finished_at=moment
    )


def failure(*ids: str, count: int | None = None) -> dict[str, Any]:
    return {
        "name": "refunds_add_up",
        "sentence": "Refunds add up.",
        "model": "payments.Charge",
        "count": count or len(ids),
        "ids": list(ids),
    }


def test_a_failed_run_is_shown_on_every_page_with_the_way_to_it(operator: Client, api: Api) -> None:
    charge = api.charge()
    check = checked(failure(charge["id"]))
    for address in (INDEX, list_of(Charge), page_of(Charge.objects.get()), reverse("admin:password_change")):
        text = text_of(operator.get(address))
        assert "refunds_add_up (1)" in text, address
        assert page_of(check) in text, address


def test_the_page_of_a_run_leads_to_what_offended(operator: Client, api: Api) -> None:
    charge = api.charge()
    text = text_of(operator.get(page_of(checked(failure(charge["id"], count=500)))))
    assert f'<a href="{page_of(Charge.objects.get())}">{charge["id"]}</a>' in text
    assert "500 offend" in text
    assert "and 499 more" in text


def test_runs_are_found_by_what_offended_and_by_their_result(operator: Client) -> None:
    attempt = "01a1fe8feff87422974ce52a770a706a"
    passed, failed = checked(), checked(failure(attempt))
    for query in ({"q": attempt}, {"q": "refunds_add_up"}, {"result": "failed"}):
        text = text_of(operator.get(list_of(MoneyCheck), query))
        assert page_of(failed) in text.partition("result_list")[2], query
        assert page_of(passed) not in text, query


@pytest.mark.parametrize(("days", "announced"), [(1, False), (3, True)], ids=["yesterday", "three days ago"])
def test_a_run_that_is_too_long_ago_is_shown(days: int, announced: bool, operator: Client) -> None:
    checked(days=days)
    assert ("The last money check was" in text_of(operator.get(INDEX))) == announced


def test_that_none_has_ended_yet_is_shown(operator: Client) -> None:
    MoneyCheck.objects.create(whole=True, invariants=[])
    assert "No money check has finished yet" in text_of(operator.get(INDEX))


def test_the_next_whole_run_that_passes_ends_the_alert_and_a_part_does_not(operator: Client) -> None:
    all_swept(a_worker())
    checked(failure("ch_" + "0" * 32), hours=2)
    checked(whole=False, hours=1)
    assert 'role="alert"' in text_of(operator.get(INDEX))
    checked()
    assert 'role="alert"' not in text_of(operator.get(INDEX))


def test_an_operator_who_may_not_look_at_runs_is_shown_without_the_way(db: None) -> None:
    check = checked(failure("ch_" + "0" * 32))
    looker = for_all(User.objects.create(username="looker", is_staff=True))
    client = Client()
    client.force_login(looker)
    text = text_of(client.get(INDEX))
    assert "refunds_add_up (1)" in text
    assert page_of(check) not in text
    looker.user_permissions.add(Permission.objects.get(codename="view_moneycheck"))
    assert page_of(check) in text_of(client.get(INDEX))


def test_an_anonymous_visitor_is_shown_nothing(db: None, client: Client) -> None:
    checked(failure("ch_" + "0" * 32))
    assert "refunds_add_up" not in text_of(client.get(reverse("admin:login")))


def test_the_alert_costs_one_statement(operator: Client, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    checked(failure("ch_" + "0" * 32))
    # The first page of a session finds its mode.
    operator.get(reverse("admin:password_change"))
    # The other four are the session, its renewal, the user and the alert of declines.
    with django_assert_num_queries(5):
        operator.get(reverse("admin:password_change"))
