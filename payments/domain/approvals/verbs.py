"""All that may be done to money, by its name, and the verb that pays out, which asks for an approval itself."""

from collections.abc import Mapping

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from payments import clock
from payments.domain.approvals.payouts import pay_out
from payments.domain.catalogue.error_table import AMOUNT_TOO_LARGE, NOT_ALLOWED, TOO_SMALL
from payments.domain.charging.verbs import CHARGE, ON_CHARGES, REFUND
from payments.domain.checkout.verbs import LINK, REQUEST, named
from payments.domain.merchants.assistants import caller_of, require_may_act
from payments.domain.payouts import make, terms
from payments.domain.payouts.make import NothingToPay
from payments.domain.payouts.schedules import account_in_effect
from payments.domain.shared import idempotency
from payments.domain.shared.caller import Caller
from payments.domain.shared.errors import conflict, invalid, not_found
from payments.domain.shared.idempotency import StoredAnswer
from payments.domain.shared.verbs import Call, MoneyVerb, Planned
from payments.models import ApiKey, ApprovalRequest, Merchant

NOTHING_TO_PAY = "The balance has nothing to pay out."


def _plan_payout(caller: Caller, call: Call) -> Planned:
    currency = call.body["currency"]
    merchant = Merchant.objects.get(id=caller.merchant_id)
    schedule = terms.schedule_of(merchant, caller.livemode, currency)
    if schedule is None:
        raise not_found("payout schedule", text=currency)
    total = make.payable(schedule, clock.now())
    kept = make.reserve_of(schedule, total)
    if total - kept < 1:
        raise invalid(TOO_SMALL, "currency", NOTHING_TO_PAY)
    if account_in_effect(schedule, clock.now()) is None:
        raise invalid(NOT_ALLOWED, "currency", "The merchant has no bank account to pay out to.")
    return Planned(total - kept, currency, None, {"left": kept})


@transaction.atomic
def _pay_out(caller: Caller, asked: ApprovalRequest) -> StoredAnswer:
    schedule = terms.schedule_of(asked.merchant, caller.livemode, asked.currency)
    try:
        payout = pay_out(schedule, asked.decided_by, asked.note) if schedule else None
    except NothingToPay:
        payout = None
    if payout is None:
        raise invalid(TOO_SMALL, "currency", NOTHING_TO_PAY)
    if payout.amount > asked.amount:
        raise conflict(AMOUNT_TOO_LARGE, "The balance has more than was asked for: ask again.")
    answer = named(payout)
    idempotency.store_answer(caller, answer)
    return answer


PAYOUT = MoneyVerb(
    "payout",
    _(
        "A payout of {amount} to the merchant's bank account is made, and the money is not there any more for refunds "
        "and disputes."
    ),
    run=_pay_out,
    permission="payments.make_payout",
    tool="pay out the balance",
    plan=_plan_payout,
    outward=True,
)
VERBS: Mapping[str, MoneyVerb] = {verb.name: verb for verb in (CHARGE, *ON_CHARGES, LINK, REQUEST, PAYOUT)}

# What assistants may ask for.
TOOLS: Mapping[str, MoneyVerb] = {verb.name: verb for verb in VERBS.values() if verb.tool}
OUTWARD = [verb.name for verb in VERBS.values() if verb.outward]


def call_of(request: ApprovalRequest) -> Call:
    """Return the call that a request is for."""
    return Call(request.after["tool"], request.after["about"], request.after["body"])


def plan_of(key: ApiKey, request: ApprovalRequest) -> Planned:
    """Return what a call that was asked for by `key` would move now. Raise PaymentError for why it would be refused."""
    require_may_act(key, request.verb)
    planned = VERBS[request.verb].plan(caller_of(key), call_of(request))
    if request.after.get("held") and not (planned.charge and planned.charge.authorized):
        raise conflict(NOT_ALLOWED, "The hold was captured meanwhile.")
    is_other = {PAYOUT.name: planned.amount > request.amount, REFUND.name: planned.amount < request.amount}
    if is_other.get(request.verb):
        raise conflict(AMOUNT_TOO_LARGE, "What this moves has changed since it was asked for.")
    return planned
