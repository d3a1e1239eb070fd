"""A merchant's program that sends a request again until it is answered, and remembers the answers."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from tests.faults.jobs import Answer, Request

# Refusals that ask to come back with the same key.
PASSING = ("idempotency_key_in_use", "resource_busy")
# What may be made of a charge afterwards, by the status that the client was shown.
AFTER = {
    "pending": {"pending", "succeeded", "failed"},
    "succeeded": {"succeeded", "voided", "refunded"},
    "refunded": {"refunded", "succeeded"},
    "voided": {"voided"},
    "failed": {"failed"},
}


def is_final(answer: Answer | None) -> bool:
    """Whether the client has been answered, instead of not at all or with the request to come back."""
    if answer is None or answer.status == 503:
        return False
    return answer.status != 409 or json.loads(answer.body)["error"]["code"] not in PASSING


def ask_until_answered(request: Request, first: Answer | None, waits: Iterator[Callable[[], None]]) -> Answer | None:
    """Return the answer to `request`, which had `first` already; retry after each of `waits`."""
    answer = first
    while not is_final(answer):
        answer = request()
        if not is_final(answer):
            wait = next(waits, None)
            if wait is None:
                return answer
            wait()
    return answer


def broken_promises(announced: dict[str, Any], now: dict[str, Any], refunds_may_fail: bool) -> Iterator[str]:
    """Return what a client saw of a charge and is no longer true, a line each."""
    if announced["id"] != now["id"] or now["status"] not in AFTER[announced["status"]]:
        yield f"answered that {announced['id']} is {announced['status']}, but {now['id']} is {now['status']}"
    if announced["amount_captured"] > now["amount_captured"]:
        yield f"answered that {announced['amount_captured']} was captured, but {now['amount_captured']} was"
    ended = {refund["id"]: refund["status"] for refund in now["refunds"]}
    for refund in announced["refunds"]:
        # A refund that was given up may turn out made after all; nothing else may change but by the payer's bank.
        ends = {
            "failed": {"failed", "succeeded"},
            "succeeded": {"succeeded"} | ({"failed"} if refunds_may_fail else set()),
        }
        if refund["status"] != "pending" and ended.get(refund["id"]) not in ends[refund["status"]]:
            yield f"answered that {refund['id']} {refund['status']}, but it {ended.get(refund['id'])}"
