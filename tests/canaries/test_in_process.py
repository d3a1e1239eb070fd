"""The safeguards against card leaks, one at a time."""

from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from customers.models import Customer
from payments import clock, ids
from payments.domain.cards.bin_table import SHOWN_DIGITS, describe
from payments.models import BinRange, Charge, IdempotencyRecord, SavedView, Source
from payments.providers.base import Declined, NotSent, Unknown
from payments.staff.admin_site.search_terms import REFUSED
from payments.staff.models import SignInFailures
from payments.staff.sign_in.adapters import NOT_SIGNED_IN
from payments.webhooks.attempt_rules import finished_attempt
from payments.webhooks.claims import Claimed
from payments.webhooks.transport.results import Answer
from tests.canaries.marks import SHAPES, SOURCE_CVC
from tests.canaries.misplaced import NUMBER, misplaced
from tests.canaries.scanner import findings
from tests.canaries.service import card_numbers_kept
from tests.client import Api, made
from tests.figures.inputs.card_texts import DISGUISES

pytestmark = pytest.mark.django_db

MISPLACED = list(misplaced())
TABLES = (Source, Charge, Customer, IdempotencyRecord)


@pytest.mark.long
@pytest.mark.parametrize(("method", "path", "request_"), MISPLACED, ids=map(str, range(len(MISPLACED))))
def test_a_card_number_in_a_wrong_place_is_refused_and_nothing_is_done(
    api: Api, method: str, path: str, request_: dict[str, Any]
) -> None:
    query = urlencode(request_.get("params", {}))
    with CaptureQueriesContext(connection) as statements:
        response = api.send(method, f"{path}?{query}", request_.get("json"), request_.get("headers", {}))
    assert response.status_code in (404, 422), response.content
    assert list(findings(response.content + repr(list(statements)).encode())) == []
    assert [table.objects.count() for table in TABLES] == [0, 0, 0, 0]


def test_metadata_may_have_the_result_of_a_security_code_check(api: Api) -> None:
    metadata = {"cvc": "pass", "cvc_length": 3, "order": "2026112200000007"}
    customer = {"email": "juan@shop.example", "description": "Juan", "metadata": metadata}
    assert made(api.post("/customers/", customer))["metadata"] == metadata


def test_no_statement_contains_more_of_a_new_card_than_may_be_shown() -> None:
    """With more digits and the last four, one unknown digit would follow from the check digit."""
    BinRange.objects.create(prefix=NUMBER[:11], brand="jcb", issuing_bank="Longest")
    BinRange.objects.create(prefix=NUMBER[:10], brand="jcb", issuing_bank="Shorter")
    BinRange.objects.create(prefix=f"{NUMBER[:8]}999", brand="jcb", issuing_bank="Another")
    with CaptureQueriesContext(connection) as statements:
        assert describe(NUMBER).issuing_bank == "Longest"
    assert NUMBER[: SHOWN_DIGITS + 1] not in repr(list(statements))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_providers_message_is_stored_without_the_card(shape: str) -> None:
    message = SHAPES[shape](NUMBER, SOURCE_CVC)
    outcomes = (Declined("card_declined", message=message), Unknown(message), NotSent(message))
    assert [list(findings(repr(outcome).encode())) for outcome in outcomes] == [[], [], []]


def test_a_receivers_answer_is_stored_without_the_card() -> None:
    now = clock.now()
    claimed = Claimed(ids.new_id(), ids.new_id(), ids.new_id(), False, None, "", "", b"", 0, None, now)
    kept = finished_attempt(claimed, Answer(500, f"\xff{NUMBER}\xff".encode("latin-1"), 1, None), now, now, 0.5)
    assert kept.answer == b"\xff[redacted]\xff"


@pytest.mark.long
@pytest.mark.parametrize("address", ["payments/card", "payments/event", "simulator/entry", "auth/user"])
def test_a_search_for_a_card_number_asks_the_database_nothing_about_it(operator: Client, address: str) -> None:
    with CaptureQueriesContext(connection) as statements:
        page = operator.get(f"/admin/{address}/", {"q": NUMBER}, follow=True)
    assert str(REFUSED) in page.content.decode()
    assert list(findings(page.content + repr(list(statements)).encode())) == []


def test_a_card_number_as_a_user_name_is_stored_nowhere(client: Client) -> None:
    with CaptureQueriesContext(connection) as statements:
        page = client.post("/admin/login/", {"login": NUMBER, "password": NUMBER})
    assert str(NOT_SIGNED_IN) in page.content.decode()
    assert SignInFailures.objects.count() == 0
    assert list(findings(repr(list(statements)).encode())) == []


@pytest.mark.long
@pytest.mark.parametrize("disguise", DISGUISES)
def test_what_strangers_send_to_the_sign_in_is_kept_nowhere(disguise: str, client: Client) -> None:
    text = DISGUISES[disguise](NUMBER)
    sent = " ".join(text.encode("ascii", "xmlcharrefreplace").decode().split())
    headers = {"User-Agent": sent, "Accept": f"text/html, {sent}", "Referer": sent, "X-Request-Id": sent}
    wrong = {"login": "ana", "password": text, text: text, "card": text}
    for tries in range(2):
        client.post("/admin/login/", wrong, headers=headers)
        client.post("/admin/login/", {"login": text, "password": text}, headers=headers)
        for query in ({"next": text}, {text: "1"}):
            answer = client.post("/admin/login/", wrong, query_params=query, headers=headers)
            assert answer.status_code == 400, tries
    assert set(SignInFailures.objects.values_list("failures", flat=True)) == {2}
    assert card_numbers_kept() == []


@pytest.mark.long
@pytest.mark.parametrize("disguise", DISGUISES)
def test_saved_filters_hold_no_card_number_however_they_are_encoded(disguise: str, operator: Client) -> None:
    query = urlencode({"q": DISGUISES[disguise](NUMBER)})
    operator.post("/admin/payments/charge/saveview/", {"name": "Mine", "query": query}, follow=True)
    assert not SavedView.objects.exists()
    assert card_numbers_kept() == []
