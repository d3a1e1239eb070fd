"""What requests have collected by themselves, on the first page."""

import pytest
from django.urls import reverse

from payments.domain.checkout.collect import collect_due
from tests.admin.conftest import client_of, words_of
from tests.checkout.cast import billed, charges_of, collected, pay
from tests.client import Api

pytestmark = pytest.mark.django_db


@pytest.mark.usefixtures("noon")
def test_the_first_page_counts_what_was_collected_by_which_try(api: Api) -> None:
    page, ana = f"{reverse('admin:index')}?by=collected", client_of("ana")
    pay(billed(api))
    assert "Nothing was collected in this time." in words_of(ana.get(page))
    request = collected(api)
    collect_due()
    [charge] = charges_of(request)
    heads, paid = "Try Collected Requests Of all", f"₱{charge.amount / 100:,.2f}"
    assert f"{heads} 1. {paid} 1 100.0%" in words_of(ana.get(page))
