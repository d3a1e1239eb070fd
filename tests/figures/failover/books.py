"""What merchants were answered, against our database, the provider's books and the webhooks that arrived."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

SHOWN = 5


@dataclass(frozen=True)
class Findings:
    """What must not be, a line each; all are empty where nothing was lost or done twice."""

    lost: list[str]
    double: list[str]
    # Our books and the provider's differ.
    differ: list[str]
    unresolved: list[str]
    broken_invariants: list[str]

    @property
    def holds(self) -> bool:
        return not any(asdict(self).values())

    def figures(self) -> dict[str, Any]:
        """Return how many there are of each kind, and the first of them."""
        found = asdict(self)
        return {
            **{name: len(lines) for name, lines in found.items()},
            "first": [line for lines in found.values() for line in lines[:SHOWN]],
        }


def compare(
    answered: Sequence[Mapping[str, Any]],
    facts: Mapping[str, Any],
    payments: Mapping[str, Mapping[str, int]],
    received: Sequence[str],
) -> Findings:
    """Compare the charges that were `answered` last with `facts` of our database (`programs.database`).

    `payments` are the provider's by reference, `received` the IDs of the events that merchants got.
    """
    charges: Mapping[str, Mapping[str, Any]] = facts["charges"]
    return Findings(
        lost=[
            *_lost(answered, charges),
            *_unknown_to_us(charges.values(), payments),
            *_webhooks_lost(facts, set(received)),
        ],
        double=[*_repeated([charge["description"] for charge in charges.values()]), *_above_one(facts["refunds"])],
        differ=[line for charge in charges.values() for line in _differences(charge, payments)],
        unresolved=[f"{count} {what}" for what, count in facts["unresolved"].items() if count],
        broken_invariants=list(facts["broken_invariants"]),
    )


def _lost(answered: Sequence[Mapping[str, Any]], charges: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for charge in answered:
        kept = charges.get(charge["id"])
        if kept is None:
            yield f"{charge['id']} was answered and is not on record"
            continue
        refunded = sum(refund["amount"] for refund in charge["refunds"] if refund["status"] == "succeeded")
        if charge["status"] == "succeeded" and kept["status"] == "failed":
            yield f"{charge['id']} was answered as succeeded and has failed"
        if kept["amount_captured"] < charge["amount_captured"] or kept["amount_refunded"] < refunded:
            yield f"{charge['id']} was answered with more money than is on record"


def _unknown_to_us(charges: Iterable[Mapping[str, Any]], payments: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    known = {charge["reference"] for charge in charges}
    yield from (f"{reference} is at the provider and not on record" for reference in payments if reference not in known)


def _webhooks_lost(facts: Mapping[str, Any], received: set[str]) -> Iterator[str]:
    yield from (f"{event} was received and is not on record" for event in sorted(received - set(facts["events"])))
    yield from (f"{event} is delivered and was not received" for event in sorted(set(facts["delivered"]) - received))


def _repeated(names: Sequence[str]) -> Iterator[str]:
    yield from _above_one(Counter(names))


def _above_one(counts: Mapping[str, int]) -> Iterator[str]:
    yield from (f"{name} was done {count} times" for name, count in counts.items() if count > 1)


def _differences(charge: Mapping[str, Any], payments: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Yield where the books differ; a payment that never reached the provider is in none, and has no money there."""
    theirs = payments.get(charge["reference"], {})
    for member in ("amount_captured", "amount_refunded"):
        if charge[member] != theirs.get(member, 0):
            yield f"{charge['description']} has {member} {charge[member]} here and {theirs.get(member, 0)} there"
