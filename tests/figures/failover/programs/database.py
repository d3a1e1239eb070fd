"""What one of kaha's hosts does in its database: `python -m tests.figures.failover.programs.database shop|facts`."""

import json
import os
import sys
from collections import Counter
from typing import Any

import django


def shop() -> dict[str, Any]:
    """Make a merchant; return its key."""
    from payments.domain.merchants.merchants import create_merchant

    return {"key": create_merchant("Sari Store").keys["sk_test"]}


def unresolved() -> dict[str, Any]:
    """Return how many outcomes are not known, and how many webhooks wait."""
    from payments.models import Attempt, Webhook

    attempts = Attempt.objects.exclude(state="done").count()
    return {"attempts": attempts, "webhooks": Webhook.objects.filter(state="waiting").count()}


def facts() -> dict[str, Any]:
    """Return what is on record, for `books.compare`."""
    from payments.ids import public_id
    from payments.invariants.registry import INVARIANTS
    from payments.models import Attempt, Charge, Event, Refund, Webhook
    from tests.faults.tallies import broken_invariants

    references = {each.charge_id: each.reference for each in Attempt.objects.filter(kind="authorize")}
    members = ("description", "status", "amount_captured", "amount_refunded")
    return {
        "charges": {
            public_id("ch", row["id"]): {**row, "id": str(row["id"]), "reference": references[row["id"]]}
            for row in Charge.objects.values("id", *members)
        },
        "refunds": Counter(Refund.objects.exclude(status="failed").values_list("reason", flat=True)),
        "events": [public_id("evt", each) for each in Event.objects.values_list("id", flat=True)],
        "delivered": [
            public_id("evt", each) for each in Webhook.objects.filter(state="delivered").values_list("id", flat=True)
        ],
        "unresolved": unresolved(),
        "invariants": len(INVARIANTS),
        "broken_invariants": broken_invariants(),
    }


def payments() -> dict[str, Any]:
    """Return what the provider's books have, for `books.compare`, where they are in this database."""
    from payments.providers.simulator.models import SimulatedPayment

    members = ("reference", "amount_captured", "amount_refunded")
    return {row["reference"]: row for row in SimulatedPayment.objects.values(*members)}


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    json.dump({"shop": shop, "unresolved": unresolved, "facts": facts}[sys.argv[1]](), sys.stdout)
