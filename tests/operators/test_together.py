"""One act on many charges at once."""

import re
from typing import Any

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.test import Client

from payments.domain.approvals import execution
from payments.models import Charge, OperatorAction
from tests.admin.conftest import text_of
from tests.admin.test_pages import list_of
from tests.client import DECLINED, Api
from tests.operators.conftest import client_of
from tests.operators.factories import ALONE, REASON, proposed
from tests.operators.forms import form_on

pytestmark = pytest.mark.django_db


def choose(client: Client, kind: str) -> str:
    """Return the page of that action on all charges."""
    chosen = {"action": f"{kind}_together", ACTION_CHECKBOX_NAME: [row.pk for row in Charge.objects.all()]}
    return text_of(client.post(list_of(Charge), chosen))


def confirm(client: Client, page: str, **changed: Any) -> str:
    form = form_on(page) | {ACTION_CHECKBOX_NAME: [row.pk for row in Charge.objects.all()], "reason": REASON}
    return text_of(client.post(list_of(Charge), form | {"decision": "confirm"} | changed, follow=True))


def test_what_it_comes_to_is_shown_before(api: Api, ana: Client) -> None:
    api.charge(amount=3_000)
    api.charge(amount=1_000)
    api.charge(amount=ALONE + 1)
    api.charge(DECLINED)
    page = choose(ana, "refund")
    facts = ["2: ₱40.00", "1: ₱50.01", "Refund ₱90.01, 3 charges?", "₱30.00", "In all", "1 of the 4 that you chose"]
    assert [words for words in (*facts, "What stays as it is", "Declined") if words not in page] == []
    assert not re.search(r"ch_[0-9a-f]{4}", page)
    assert not OperatorAction.objects.exists()


def test_little_is_done_by_a_worker_and_much_is_asked_for(api: Api, ana: Client) -> None:
    small, large = api.charge(amount=3_000), api.charge(amount=ALONE + 1)
    text = confirm(ana, choose(ana, "refund"))
    assert ("approved 1: ₱30.00" in text, "proposed 1: ₱50.01" in text) == (True, True)
    assert execution.execute_left() == 1
    assert [api.read(charge)["amount_refunded"] for charge in (small, large)] == [3_000, 0]


@pytest.mark.long
def test_the_same_form_sent_twice_acts_once(api: Api, ana: Client) -> None:
    api.charge(amount=3_000)
    page = choose(ana, "refund")
    confirm(ana, page)
    confirm(ana, page)
    assert OperatorAction.objects.count() == 1


def test_a_reason_is_wanted(api: Api, ana: Client) -> None:
    api.charge()
    assert "errorlist" in confirm(ana, choose(ana, "refund"), reason="")
    assert not OperatorAction.objects.exists()


def test_what_is_not_possible_any_more_holds_up_no_other(api: Api, ana: Client) -> None:
    first, second = api.charge(amount=3_000), api.charge(amount=1_000)
    page = choose(ana, "refund")
    api.post(f"/charges/{first['id']}/void")
    assert "Left out: 1. Juan dela Cruz: Voided" in confirm(ana, page)
    execution.execute_left()
    assert api.read(second)["amount_refunded"] == 1_000


@pytest.mark.long
def test_a_role_is_offered_its_own_acts_alone(api: Api, ana: Client) -> None:
    api.held()
    held = {"action": "capture_together", ACTION_CHECKBOX_NAME: [Charge.objects.get().pk]}
    ana.post(list_of(Charge), held | {"decision": "confirm", "reason": REASON})
    client_of("vera", "viewer").post(list_of(Charge), held | {"action": "refund_together"})
    assert not OperatorAction.objects.exists()
    assert 'value="capture_together"' not in text_of(ana.get(list_of(Charge)))


def test_a_batch_that_is_none_shows_nothing(api: Api, ana: Client) -> None:
    api.charge()
    act = proposed()
    assert str(act.pk) not in text_of(ana.get(list_of(OperatorAction), {"batch": "x"}))
