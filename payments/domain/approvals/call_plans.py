"""What each call of an assistant would move, found out without moving anything."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from payments import clock
from payments.domain.charging import charges, operations, sources
from payments.domain.charging.operations import Plan
from payments.domain.payouts import make, terms
from payments.domain.payouts.schedules import account_in_effect
from payments.domain.shared.caller import Caller, IdempotencyKey, RequestFacts, merchant_of
from payments.domain.shared.customers import customers
from payments.domain.shared.errors import invalid, not_found
from payments.ledger.fees import Rate, fee_of, rate_of
from payments.models import ApiKey, Charge, Merchant
from payments.rendering.objects.checkout import total_of

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """A call: its tool, the object that it is about ("" for none), and its checked body."""

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


def caller_of(key: ApiKey, request_id: str = "", idempotency: IdempotencyKey | None = None) -> Caller:
    """Return the caller that the verbs see: the key's merchant with its terms as they are now."""
    merchant, request = Merchant.objects.get(id=key.merchant_id), RequestFacts(request_id, idempotency=idempotency)
    return Caller(key.merchant_id, key.livemode, key.id, request=request, merchant=merchant)


def plan(caller: Caller, call: Call) -> Planned:
    """Return what `call` would move now. Raise PaymentError for what the verb would refuse."""
    return PLANS[call.tool](caller, call)


def _charge(caller: Caller, call: Call) -> Planned:
    source, body = sources.find(caller, call.body["source"]), call.body
    if not source.vaulted:
        raise invalid("not_allowed", "source", "An assistant charges sources that are kept for a customer alone.")
    fee = fee_of(body["amount"], rate_of(merchant_of(caller).rates, source.type, body["currency"]))
    return Planned(body["amount"], body["currency"], None, {"fee": fee, "left": body["amount"] - fee})


def _capture(caller: Caller, call: Call) -> Planned:
    charge = charges.find(caller, call.about)
    amount = operations.plan_capture(charge, call.body.get("amount")).amount
    fee = fee_of(amount, Rate(charge.fee_basis_points, charge.fee_fixed))
    return Planned(amount, charge.currency, charge, {"fee": fee, "left": amount - fee})


def _void(caller: Caller, call: Call) -> Planned:
    charge = charges.find(caller, call.about)
    return _back(charge, operations.plan_void(charge))


def _refund(caller: Caller, call: Call) -> Planned:
    charge = charges.find(caller, call.about)
    return _back(charge, operations.plan_refund(charge, call.body.get("amount"), call.body.get("reason", "")))


def _back(charge: Charge, planned: Plan) -> Planned:
    left = charge.amount_captured - charge.amount_refunded - charge.amount_disputed - planned.amount
    return Planned(planned.amount, charge.currency, charge, {"left": max(0, left)})


def _items(caller: Caller, call: Call) -> Planned:
    if "customer" in call.body:
        customers().find(caller, call.body["customer"])
    return Planned(total_of(call.body["line_items"]), call.body["currency"].upper())


def _payout(caller: Caller, call: Call) -> Planned:
    currency = call.body["currency"]
    merchant = Merchant.objects.get(id=caller.merchant_id)
    schedule = terms.schedule_of(merchant, caller.livemode, currency)
    if schedule is None:
        raise not_found("payout schedule", text=currency)
    total = make.payable(schedule, clock.now())
    kept = make.reserve_of(schedule, total)
    if total - kept < 1:
        raise invalid("too_small", "currency", "The balance has nothing to pay out.")
    if account_in_effect(schedule, clock.now()) is None:
        raise invalid("not_allowed", "currency", "The merchant has no bank account to pay out to.")
    return Planned(total - kept, currency, None, {"left": kept})


PLANS: Mapping[str, Callable[[Caller, Call], Planned]] = {
    "charge": _charge,
    "capture": _capture,
    "void": _void,
    "refund": _refund,
    "link": _items,
    "request": _items,
    "payout": _payout,
}
