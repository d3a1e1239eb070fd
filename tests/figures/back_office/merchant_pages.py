"""How long the pages of the merchants' own site take for the merchant with the most charges."""

from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Count
from django.test import Client

from payments.ids import public_id
from payments.merchant_site.pages.charges import OfMerchantByState
from payments.merchant_site.site import merchant_site
from payments.models import Charge, Merchant, MerchantAccess
from payments.overview import day_totals
from payments.quickstart.demo import year
from payments.search.sweep import enter
from tests.figures.back_office.copied_charges import multiply_charges_of
from tests.figures.back_office.page_times import cost

OK = 200
HOME = "/merchant/"
LIST = "/merchant/payments/charge/"


def dashboard(charges: int, stories: int) -> dict[str, Any]:
    """Seed a year of `stories`, multiply it to `charges` of its largest merchant, and return the cost of each page."""
    settings.ALLOWED_HOSTS, settings.ADMIN_MFA, settings.SECURE_SSL_REDIRECT = ["testserver"], False, False
    year.seed(stories, 5, Random(1), lambda _: None)
    enter("charge", list(Charge.objects.values_list("pk", flat=True)))
    largest = Charge.objects.values("merchant").annotate(made=Count("pk")).order_by("-made")[0]
    merchant = Merchant.objects.get(pk=largest["merchant"])
    multiply_charges_of(merchant, charges // largest["made"] - 1)
    for day in day_totals.every_day():
        day_totals.sum_up(day)
    user = User.objects.create(username="nena")
    MerchantAccess.objects.create(user=user, merchant=merchant, role=MerchantAccess.Role.OWNER)
    client = Client()
    client.force_login(user)
    pages: dict[str, Any] = {}
    for address in _addresses(merchant):
        status = client.get(address, follow=True).status_code
        pages[address] = cost(partial(client.get, address, follow=True)) if status == OK else {"status": status}
    return {"charges": Charge.objects.filter(merchant=merchant).count(), "pages": pages}


def _addresses(merchant: Merchant) -> Iterator[str]:
    charge = Charge.objects.filter(merchant=merchant).latest("pk")
    yield from (f"{HOME}?days=90", f"{HOME}payments/payout/balance/")
    yield from (f"{LIST}?mode=test&money={name}" for name in OfMerchantByState.conditions)
    yield from (
        f"{LIST}?mode=test&q={term}" for term in (public_id("ch", charge.pk), "4242", "order", "nothing+at+all")
    )
    yield from (f"{LIST}?mode=test&p=last", f"{HOME}find/?q=order", f"{HOME}find/?q=1000..1010")
    for model, page in merchant_site._registry.items():
        address = f"{HOME}{model._meta.label_lower.replace('.', '/')}/"
        # The list of businesses leads to the one there is.
        if model is not Merchant:
            yield f"{address}?mode=test"
        if row := model._default_manager.filter(**{str(page.merchant_lookup): merchant.pk}).order_by("-pk").first():
            yield f"{address}{row.pk}/change/"
