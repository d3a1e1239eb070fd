"""What may be done for a merchant: each verb is declared once, in its feature's room, and every door reads it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from payments.domain.shared.caller import Caller
from payments.domain.shared.idempotency import StoredAnswer
from payments.models import ApprovalRequest, Charge

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """A call: the verb's name, the object that it is about ("" for none), and its checked body."""

    tool: str
    about: str
    body: Body


@dataclass(frozen=True, slots=True)
class Planned:
    """What a call would move: `facts` are further amounts, `charge` the one that it is about."""

    amount: int
    currency: str
    charge: Charge | None = None
    facts: Mapping[str, int] = field(default_factory=dict)


def nothing(_: Charge) -> int:
    """Return what a verb that is about no charge can move of one."""
    return 0


@dataclass(frozen=True, slots=True, eq=False)
class Verb:
    """What may be done for a merchant.

    `does` says what comes of it, and `label` is its button. `right` is what a restricted key needs for it, and
    `permission` what a person needs.
    """

    name: str
    does: Any
    right: str = ""
    permission: str = ""
    label: Any = ""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MoneyVerb(Verb):
    """What may be done to money.

    `does` has an `amount` and perhaps a `payer`; in a sentence the verb is `noun`, where that is another word. `plan`
    says what a call would move, without moving it, and `run` moves what was approved, under the caller's idempotency
    key; both raise PaymentError for what is refused. `tool` is what an assistant may ask to do. A person moves at most
    `most` of a charge, less than that only `in_parts`. It is `outward` where the merchant's money goes out.
    """

    plan: Callable[[Caller, Call], Planned]
    run: Callable[[Caller, ApprovalRequest], StoredAnswer]
    noun: Any = ""
    tool: str = ""
    most: Callable[[Charge], int] = nothing
    in_parts: bool = False
    outward: bool = False
