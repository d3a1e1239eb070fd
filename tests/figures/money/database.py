"""Whether anything acknowledged is lost, or done twice, when PostgreSQL is killed and started again under load."""

import time
from collections import Counter
from contextlib import ExitStack
from random import Random
from typing import Any

from django.db import connection

from payments.domain.merchants.merchants import create_merchant
from payments.embedded.folders import Folders
from payments.embedded.processes import wait_until
from payments.ids import parse_id
from payments.models import Attempt, Charge, Refund
from payments.providers.simulator.models import SimulatedPayment
from tests.faults.tallies import broken_invariants
from tests.figures.money.lasting_load import Load, name_of
from tests.support.postgres import Postgres
from tests.support.scratch import SETTINGS
from tests.support.web import web_server
from tests.support.worker import Worker

RESOLVE_TIMEOUT_SECONDS = 60
UP_SECONDS = (2.0, 5.0)
DOWN_SECONDS = (0.0, 2.0)


def database(folders: Folders, kills: int, seed: int) -> dict[str, object]:
    """Kills the server `kills` times while programs charge, capture and refund, then lets the worker finish."""
    chance, worker = Random(seed), Worker(folders.data)
    load = Load(create_merchant("Sari Store").keys["sk_test"], seed)
    server = Postgres(folders.data)
    with ExitStack() as stack:
        stack.callback(server.stop)
        stack.callback(worker.kill)
        url = stack.enter_context(web_server(folders.data))
        worker.start()
        with load.on(url):
            for _ in range(kills):
                time.sleep(chance.uniform(*UP_SECONDS))
                server.kill()
                time.sleep(chance.uniform(*DOWN_SECONDS))
                server.start(**SETTINGS)
            time.sleep(chance.uniform(*UP_SECONDS))
        connection.close()
        started = time.monotonic()
        wait_until(lambda: not _unresolved(), RESOLVE_TIMEOUT_SECONDS)
        resolved = {"unresolved": _unresolved(), "resolved_in_seconds": round(time.monotonic() - started, 1)}
        return {"kills": kills, "seed": seed, **_answered(load), **resolved, **_kept(load)}


def _unresolved() -> int:
    return Attempt.objects.exclude(state="done").count()


def _answered(load: Load) -> dict[str, Any]:
    return {
        "acknowledged": len(load.acknowledged),
        "abandoned": len(load.abandoned),
        "answers": dict(load.answers),
        "undocumented": load.undocumented,
    }


def _kept(load: Load) -> dict[str, Any]:
    reasons = Counter(Refund.objects.exclude(status="failed").values_list("reason", flat=True))
    orders = Counter(Charge.objects.values_list("description", flat=True))
    return {
        "lost": sum(_is_lost(charge) for charge in load.acknowledged.values()),
        "double": sum(count > 1 for count in [*reasons.values(), *orders.values()]),
        "taken_after_5xx": sum(_has_money(number) for number in load.abandoned),
        "broken_invariants": broken_invariants(),
    }


def _is_lost(answered: dict[str, Any]) -> bool:
    """Return whether something that a program was answered is not on record, or not in the simulator's books."""
    charge = Charge.objects.filter(id=parse_id("ch", answered["id"])).first()
    if not charge or answered["status"] == "pending":
        return not charge
    refunded = sum(refund["amount"] for refund in answered["refunds"] if refund["status"] == "succeeded")
    # A payment that never reached the provider is in no books, and has no money there.
    payment = SimulatedPayment.objects.filter(reference=_reference(charge)).first()
    ours = (charge.amount_captured, charge.amount_refunded)
    books = (payment.amount_captured, payment.amount_refunded) if payment else (0, 0)
    return any(
        captured != answered["amount_captured"] or given_back < refunded for captured, given_back in (ours, books)
    )


def _has_money(number: int) -> bool:
    charge = Charge.objects.filter(description=name_of(number)).first()
    reference = _reference(charge) if charge else ""
    return SimulatedPayment.objects.filter(reference=reference, state__in=["held", "captured"]).exists()


def _reference(charge: Charge) -> str:
    return Attempt.objects.get(charge=charge, kind="authorize").reference
