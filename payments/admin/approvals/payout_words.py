"""Descriptions of requests for approval that are about payouts."""

from collections.abc import Iterator
from typing import Any

from payments import clock
from payments.admin.framework.formats import NOTHING, days_text, link, money
from payments.admin.framework.object_actions import Consequence, Facts
from payments.models import ApprovalRequest, Payout, PayoutAccount, ProviderAccount

Kind = ApprovalRequest.Kind
BANK_FILE = "a bank file"


def consequence_of(request: ApprovalRequest) -> Consequence:
    """Return what comes of an approval."""
    merchant = request.merchant.title
    match request.kind:
        case Kind.ADD_PAYOUT_ACCOUNT:
            text = f"From 24 hours after the approval all that {merchant} earns goes to this account. Ask {merchant} "
            return Consequence(f"{text}by a telephone number that you know, not by one in a message about it.")
        case Kind.SET_PAYOUT_SCHEDULE:
            text = f"Payouts of {merchant} made from now on have these terms. What goes out is not there any more for "
            return Consequence(f"{text}later refunds and disputes.")
        case _ if request.after["status"] == "returned":
            text = f"The balance of {merchant} has the money again, and the next payout pays it once more."
            return Consequence(f"{text} Make sure that it is back in our account.")
        case _:
            return Consequence("The books say that our bank has paid it. Make sure with the statement of our account.")


def short_words(request: ApprovalRequest) -> str:
    """Return what is asked for, in a few words."""
    after = request.after
    match request.kind:
        case Kind.ADD_PAYOUT_ACCOUNT:
            return f"{after['currency']}, ending in {after['last4']}"
        case Kind.SET_PAYOUT_SCHEDULE:
            return f"{after['currency']}, {after['interval']}"
        case _:
            return str(after["status"])


def subject(request: ApprovalRequest) -> Facts:
    """Yield the payout that it is about, or the bank account that is replaced."""
    if request.kind == Kind.RECORD_PAYOUT:
        payout = Payout.objects.select_related("account").get(id=request.subject_id)
        yield "Payout", link(Payout, payout.id, f"{payout}")
        yield "Amount", money(payout.amount, payout.currency)
        yield "Went to", payout.account
        return
    own = PayoutAccount.objects.filter(merchant=request.merchant_id, livemode=True, currency=request.after["currency"])
    present = own.in_effect(clock.now()).first()
    yield "In place of", link(PayoutAccount, present.id, present) if present else "no account yet"


def values(request: ApprovalRequest, content: dict[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield each value that is asked for."""
    match request.kind:
        case Kind.ADD_PAYOUT_ACCOUNT:
            yield "Currency", content["currency"]
            yield "Holder", content["holder"]
            yield "BIC", content["bic"]
            yield "Account number", f"typed by the requester, ending in {content['last4']}"
        case Kind.SET_PAYOUT_SCHEDULE:
            yield "Currency", content["currency"]
            yield "Interval", content["interval"]
            yield "Delay", days_text(content["delay_days"])
            yield "Reserve", f"{content['reserve_percent']} % for {days_text(content['reserve_days'])}"
            yield "Way out", _way_out(content["provider_account"])
        case _:
            yield "Status", content["status"].replace("_", " ")


def _way_out(account_id: str) -> object:
    account = ProviderAccount.objects.filter(id=account_id).first() if account_id else None
    return link(ProviderAccount, account.id, account) if account else NOTHING if account_id else BANK_FILE
