"""How long the pages of the admin take with many charges."""

import time
from collections.abc import Callable, Iterator, Mapping
from random import Random
from statistics import median
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from customers.models import Customer
from payments.admin.charges.status import STATES
from payments.ids import public_id
from payments.models import Attempt, Charge
from payments.money import plain_amount
from payments.overview import day_totals
from payments.quickstart.demo import year
from payments.search.sweep import enter
from tests.client import APPROVED
from tests.figures.back_office.copied_charges import multiply

ROUNDS = 5
LIST, FIRST_PAGE = reverse("admin:payments_charge_changelist"), reverse("admin:index")
Ask = Callable[[], Any]


def office(charges: int, stories: int) -> dict[str, Any]:
    """Seed a year of `stories`, multiply it to `charges`, and return times and statements of each page."""
    settings.ALLOWED_HOSTS, settings.ADMIN_MFA, settings.SECURE_SSL_REDIRECT = ["testserver"], False, False
    year.seed(stories, 5, Random(1), lambda _: None)
    entered_per_second = _enter()
    multiply(charges // stories - 1)
    for day in day_totals.every_day():
        day_totals.sum_up(day)
    client = Client(raise_request_exception=True)
    client.force_login(User.objects.create(username="ana", is_staff=True, is_superuser=True))
    pages = {name: cost(ask) for name, ask in _pages(client)}
    made = {"charges": Charge.objects.count(), "search_entries_per_second": entered_per_second}
    return made | {"pages": pages, "export": _export(client)}


def _enter() -> int:
    """Make the search entries of all charges again; return how many in a second."""
    ids = list(Charge.objects.values_list("pk", flat=True))
    started = time.perf_counter()
    enter("charge", ids)
    return round(len(ids) / (time.perf_counter() - started))


def _pages(client: Client) -> Iterator[tuple[str, Ask]]:
    yield "first page, 90 days", lambda: client.get(FIRST_PAGE, {"days": 90})
    for name, query in _lists().items():
        yield f"list: {name}", lambda query=query: client.get(LIST, {"mode": "test"} | query)
    for text in _searches():
        yield f"search: {text}", lambda text=text: client.get(reverse("admin:find"), {"q": text})
    by_card = reverse("admin:payments_charge_by_card")
    yield "search by card number", lambda: client.post(by_card, {"number": APPROVED}, follow=True)
    charge = Charge.objects.latest("pk")
    yield "list: webhooks", lambda: client.get(reverse("admin:payments_webhook_changelist"), {"mode": "test"})
    yield "page of a charge", lambda: client.get(reverse("admin:payments_charge_change", args=[charge.pk]))


def _searches() -> Iterator[str]:
    """Yield texts of few hits, of a thousandth of all charges, of nearly all, and of none."""
    charge = Charge.objects.select_related("source__card").filter(source__card__isnull=False).latest("pk")
    amount = plain_amount(charge.amount, charge.currency)
    yield Customer.objects.exclude(email="").earliest("pk").email
    yield amount
    yield f"{charge.source.card.last4} {amount} {charge.created_at:%Y-%m-%d}"
    yield from (
        "4242",
        "4242 1250 yesterday",
        "order",
        "succeeded",
        "failed card",
        "order 2026-01",
        charge.merchant.title,
    )
    yield from (charge.merchant.title, charge.description, "nothing of the kind", "order nothing", "1234567.89")
    yield from ("1000..1010", "1000..2000", f"…{charge.pk.hex[-5:]}", "ordre nohting")


def _lists() -> Mapping[str, Mapping[str, Any]]:
    charge, first = Charge.objects.latest("pk"), Charge.objects.earliest("pk")
    middle, quiet = (first.created_at + (charge.created_at - first.created_at) / 2).date(), first.merchant_id
    reference = Attempt.objects.exclude(provider_ref="").earliest("pk").provider_ref
    email = Customer.objects.exclude(email="").earliest("pk").email
    states = {state.label.lower(): {"money": name} for name, state in STATES.items()}
    return {
        "first page": {},
        "last page": {"p": "last"},
        "a day in the middle": {"since": middle, "until": middle},
        **states,
        "last page of failed": {"money": "failed", "p": "last"},
        "live, of which there are none": {"mode": "live"},
        "merchant": {"merchant": quiet},
        "merchant, held": {"merchant": quiet, "money": "held"},
        "type": {"type": "pesonet"},
        "amount that nothing has": {"least": "1,234,567.89", "most": "1,234,567.89", "currency": "PHP"},
        "search by ID": {"q": public_id("ch", charge.pk)},
        "search by last 4": {"q": "4242"},
        "search by words": {"q": charge.description},
        "search by a word that all have": {"q": "order"},
        "search by words that nothing has": {"q": "nothing of the kind"},
        "search by the provider's reference": {"q": reference},
        "search by e-mail": {"q": email},
    }


def cost(ask: Ask) -> dict[str, float]:
    """Return the median of some rounds, after one that fills the caches."""
    assert ask().status_code == 200
    with CaptureQueriesContext(connection) as captured:
        rounds = [_milliseconds(ask) for _ in range(ROUNDS)]
    shown, own = zip(*rounds, strict=True)
    return {
        "milliseconds": round(median(shown), 1),
        "processor_milliseconds": round(median(own), 1),
        "statements": len(captured) // ROUNDS,
    }


def _milliseconds(ask: Ask) -> tuple[float, float]:
    """Return how long a page takes, and the processor time of this process in it, without PostgreSQL's."""
    started, began = time.perf_counter(), time.process_time()
    assert ask().status_code == 200
    return (time.perf_counter() - started) * 1000, (time.process_time() - began) * 1000


def _export(client: Client) -> dict[str, float]:
    """Return how fast the list of all charges is sent as a file."""
    started = time.perf_counter()
    response: Any = client.post(reverse("admin:payments_charge_csv"))
    # The heads are a line, too.
    rows = sum(piece.count(b"\r\n") for piece in response.streaming_content) - 1
    seconds = time.perf_counter() - started
    return {"rows": rows, "seconds": round(seconds, 1), "rows_per_second": round(rows / seconds)}
