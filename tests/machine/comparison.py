"""Whether what the API answers is what the model says."""

from typing import Any

from django.http import HttpResponse

from tests.client import error_of, made
from tests.machine.customers import Customer
from tests.machine.model import Charge, Source

# What an event shows as it was then; nested objects may have changed since without an event of this one.
OWN = ("status", "authorized", "captured", "amount_captured", "amount_refunded", "disputed")


def expected(charge: Charge) -> dict[str, Any]:
    """Return the members of a charge that the contract decides, as `shown` has them."""
    return {
        "id": charge.name,
        "status": charge.status,
        "authorized": charge.stage == "held",
        "captured": charge.captured,
        "amount": charge.amount,
        "amount_captured": charge.amount_captured,
        "amount_refunded": charge.amount_refunded,
        "disputed": charge.dispute is not None,
        "refunds": [(refund.amount, refund.status) for refund in charge.refunds],
        "failure": charge.failure,
        "action": charge.action,
        "source": (charge.source.name, charge.source.used, charge.source.vaulted),
    }


def shown(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the same members of a charge that the API answered."""
    source = answer["source"]
    return {
        **{name: answer[name] for name in ("id", *OWN, "amount")},
        "refunds": [(refund["amount"], refund["status"]) for refund in answer["refunds"]],
        "failure": answer.get("failure_data", {}).get("code", ""),
        "action": answer.get("action", {}).get("type", ""),
        "source": (source["id"], source["used"], source["vaulted"]),
    }


def check_refused(response: HttpResponse, code: str) -> None:
    """Fails unless the answer refuses with `code`, as the contract's table of errors has it."""
    status = {"resource_missing": 404, "invalid_choice": 422}.get(code, 409)
    assert (response.status_code, error_of(response)["code"]) == (status, code), response.content


def check_charge(answer: dict[str, Any], charge: Charge) -> None:
    assert shown(answer) == expected(charge), f"{shown(answer)} instead of {expected(charge)}"


def check_source(answer: dict[str, Any], source: Source) -> None:
    assert (answer["id"], answer["used"], answer["vaulted"]) == (source.name, source.used, source.vaulted)


def check_customer(response: HttpResponse, customer: Customer) -> None:
    """Fails unless the customer is answered with the sources that are kept for it, newest first."""
    kept = made(response)["sources"]
    assert [source["id"] for source in kept] == [source.name for source in customer.sources]
    for source, in_model in zip(kept, customer.sources, strict=True):
        check_source(source, in_model)
