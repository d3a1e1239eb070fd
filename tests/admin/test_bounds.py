"""How much the admin reads of what somebody sends."""

import pytest
from django.contrib.messages import get_messages
from django.test import Client

from payments.staff.admin_site.search_terms import REFUSED, TERM_MAX_LENGTH

CHARGES = "/admin/payments/charge/"


@pytest.mark.long
def test_a_form_longer_than_any_of_ours_is_refused(db: None) -> None:
    answer = Client().post("/admin/login/", {"login": "a" * 128 * 1024, "password": "b"})
    assert answer.status_code == 400


@pytest.mark.long
def test_a_search_term_longer_than_any_is_not_searched_for(operator: Client) -> None:
    answer = operator.get(CHARGES, {"q": "a" * (TERM_MAX_LENGTH + 1)})
    assert (answer.status_code, answer["Location"]) == (302, CHARGES)
    assert [str(message) for message in get_messages(answer.wsgi_request)] == [REFUSED]


def test_the_longest_search_term_is_searched_for(operator: Client) -> None:
    assert operator.get(CHARGES, {"q": "a" * TERM_MAX_LENGTH}).status_code == 200
