"""What may be done to charges."""

from collections.abc import Callable

from django.utils.translation import gettext_lazy as _

from payments.domain import sources
from payments.domain.catalogue.error_table import NOT_ALLOWED
from payments.domain.charging import charges, operations
from payments.domain.charging.charges import ChargeOrder
from payments.domain.charging.operations import Plan
from payments.domain.charging.state_machine import ChargeState, state_of
from payments.domain.shared.caller import Caller, merchant_of
from payments.domain.shared.errors import invalid
from payments.domain.shared.idempotency import StoredAnswer
from payments.domain.shared.verbs import Body, Call, MoneyVerb, Planned
from payments.ledger.fees import Rate, fee_of, rate_of
from payments.models import ApprovalRequest, Charge

WRITE = "charges:write"


def _plan_charge(caller: Caller, call: Call) -> Planned:
    source, body = sources.find(caller, call.body["source"]), call.body
    if not source.vaulted:
        raise invalid(NOT_ALLOWED, "source", "An assistant charges sources that are kept for a customer alone.")
    fee = fee_of(body["amount"], rate_of(merchant_of(caller).rates, source.type, body["currency"]))
    return Planned(body["amount"], body["currency"], None, {"fee": fee, "left": body["amount"] - fee})


def _plan_capture(caller: Caller, call: Call) -> Planned:
    charge = charges.find(caller, call.about)
    amount = operations.plan_capture(charge, call.body.get("amount")).amount
    fee = fee_of(amount, Rate(charge.fee_basis_points, charge.fee_fixed))
    return Planned(amount, charge.currency, charge, {"fee": fee, "left": amount - fee})


def _plan_on(moves: Callable[[Charge, Body], Plan]) -> Callable[[Caller, Call], Planned]:
    """Return what plans a call about a charge, of which `moves` plans the operation."""

    def plan(caller: Caller, call: Call) -> Planned:
        charge = charges.find(caller, call.about)
        amount = moves(charge, call.body).amount
        left = charge.amount_captured - charge.amount_refunded - charge.amount_disputed - amount
        return Planned(amount, charge.currency, charge, {"left": max(0, left)})

    return plan


def _void(caller: Caller, asked: ApprovalRequest) -> StoredAnswer:
    undo = operations.release if asked.after.get("held") else operations.void
    return undo(caller, str(asked.charge)).answer


def _held(charge: Charge) -> int:
    return charge.amount if state_of(charge) is ChargeState.HELD else 0


def _voidable(charge: Charge) -> int:
    is_whole = not charge.amount_refunded and not charge.disputed
    return charge.amount_captured if state_of(charge) is ChargeState.CAPTURED and is_whole else 0


def _refundable(charge: Charge) -> int:
    if state_of(charge) not in (ChargeState.CAPTURED, ChargeState.SETTLED):
        return 0
    return max(0, charge.amount_captured - charge.amount_refunded - charge.amount_disputed)


CHARGE = MoneyVerb(
    "charge",
    _("{amount} is taken from a card that is kept for a customer."),
    right=WRITE,
    run=lambda caller, asked: charges.create(caller, ChargeOrder(**asked.body)).answer,
    tool="charge a card that is kept for a customer",
    plan=_plan_charge,
)
CAPTURE = MoneyVerb(
    "capture",
    _("{amount} is taken from {payer}."),
    right=WRITE,
    run=lambda caller, asked: operations.capture(caller, str(asked.charge), asked.amount).answer,
    permission="payments.capture_charge",
    label=_("Capture"),
    tool="capture a held charge",
    plan=_plan_capture,
    most=_held,
    in_parts=True,
)
RELEASE = MoneyVerb(
    "release",
    _("The hold of {amount} on {payer} ends, and nothing of it can be captured any more."),
    run=lambda caller, asked: operations.release(caller, str(asked.charge)).answer,
    permission="payments.release_charge",
    label=_("Release the hold"),
    plan=_plan_on(lambda charge, _: operations.plan_release(charge)),
    most=_held,
)
EXTEND = MoneyVerb(
    "extend",
    _("The provider is asked to hold {amount} on {payer} for longer."),
    run=lambda caller, asked: operations.extend(caller, str(asked.charge)).answer,
    permission="payments.extend_charge",
    label=_("Extend the hold"),
    plan=_plan_on(lambda charge, _: operations.plan_extend(charge)),
    most=lambda charge: charge.amount if _held(charge) and operations.extension_days(charge) else 0,
)
REFUND = MoneyVerb(
    "refund",
    _("{amount} goes back to {payer}. The merchant's balance falls by it, and the fee is kept."),
    # `body` has the chosen `reason`, if any.
    right=operations.REFUND_RIGHT,
    run=lambda caller, asked: (
        operations.refund(caller, str(asked.charge), asked.amount, *filter(None, [asked.body.get("reason")])).answer
    ),
    permission="payments.refund_charge",
    label=_("Refund"),
    tool="refund a charge",
    plan=_plan_on(lambda charge, body: operations.plan_refund(charge, body.get("amount"), body.get("reason", ""))),
    most=_refundable,
    in_parts=True,
    outward=True,
)
VOID = MoneyVerb(
    "void",
    _(
        "{amount} goes back to {payer}, as if it had never been taken. The merchant's balance falls by it, and the fee "
        "is given back."
    ),
    right=WRITE,
    run=_void,
    permission="payments.void_charge",
    label=_("Void"),
    tool="void a charge",
    plan=_plan_on(lambda charge, _: operations.plan_void(charge)),
    most=_voidable,
    outward=True,
)
# What operators and merchants' people do to charges, in the order of the buttons.
ON_CHARGES = (CAPTURE, RELEASE, EXTEND, REFUND, VOID)
