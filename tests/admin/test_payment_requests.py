"""Payment requests in the back office: found by ID and number, shown with their message, voided and sent again."""

import pytest
from django.test import Client

from payments.domain.checkout import collect
from payments.models import AuditEntry
from tests.admin.actions import REASON, act
from tests.checkout.cast import billed, collected, event_types, pay, row_of, shown
from tests.client import DECLINED, Api

pytestmark = pytest.mark.django_db
LIST = "/admin/payments/checkout/"


def test_a_request_is_found_by_its_id_and_number(operator: Client, api: Api) -> None:
    request, other = billed(api), billed(api)
    for term in (request["id"], request["number"], request["number"].lower()):
        text = operator.get(LIST, {"q": term}).content.decode()
        assert row_of(request).pk.hex in text.replace("-", ""), term
        assert row_of(other).pk.hex not in text.replace("-", ""), term


def test_the_page_of_a_request_shows_its_invoice(operator: Client, api: Api) -> None:
    request = billed(api, message="Salamat <b>po</b>!")
    text = operator.get(f"{LIST}{row_of(request).pk}/change/").content.decode()
    for part in (request["number"], "Salamat &lt;b&gt;po&lt;/b&gt;!", request["payment_request_url"]):
        assert part in text, part


def test_an_operator_voids_a_request_with_a_reason(operator: Client, api: Api) -> None:
    request = billed(api)
    act(operator, row_of(request), "void")
    after = shown(api, request)
    assert (after["voided"], after["void_reason"]) == (True, REASON)
    assert event_types(api, request) == ["payment_request.created", "payment_request.updated"]
    entry = AuditEntry.objects.get(action="cancelled")
    assert (entry.object_name, entry.reason) == (request["id"], REASON)


def test_a_paid_request_cannot_be_voided_by_an_operator(operator: Client, api: Api) -> None:
    request = billed(api)
    pay(request)
    act(operator, row_of(request), "void")
    assert not shown(api, request)["voided"]


def test_an_operator_sends_a_request_again(operator: Client, api: Api) -> None:
    request = billed(api)
    act(operator, row_of(request), "resend")
    assert row_of(request).request.resends == 1
    assert AuditEntry.objects.filter(action="sent_again").count() == 1


def test_an_operator_sees_tries_and_has_the_next_one_made_or_stops_them(operator: Client, api: Api) -> None:
    request, other, plain = collected(api, DECLINED, schedule=[3, 5]), collected(api), billed(api)
    act(operator, row_of(request), "try_now")
    act(operator, row_of(other), "stop_collecting")
    assert collect.collect_due() == 1
    assert shown(api, other)["collect"]["ended_because"] == "stopped"
    text = operator.get(f"{LIST}{row_of(request).pk}/change/").content.decode()
    assert "Next try" in text
    listed = operator.get(LIST, {"collecting": "collecting"}).content.decode()
    assert [str(row_of(each).pk) in listed for each in (request, other, plain)] == [True, False, False]
