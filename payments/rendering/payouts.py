"""Payouts and the transactions of a balance, as the API and the webhooks show them."""

from typing import Any

from payments.clock import iso
from payments.ids import moment_of, public_id
from payments.models import Payout, PayoutAccount, Posting
from payments.rendering.wire import without_absent

# The accounts that a balance consists of, by its members in the API.
BALANCES = {"merchant_pending": "pending", "merchant_payable": "available", "merchant_reserve": "reserved"}


def render_payout(payout: Payout) -> dict[str, Any]:
    """Return `payout`, read with its account, as the API shows it."""
    return without_absent(
        {
            "object": "payout",
            "id": public_id("po", payout.id),
            "amount": payout.amount,
            "currency": payout.currency,
            "reserve": payout.reserve,
            "reserve_release_at": iso(payout.reserve_due_at) if payout.reserve_due_at else None,
            "status": payout.status,
            "failure_code": payout.failure_code or None,
            "bank_account": _render_account(payout.account),
            "livemode": payout.livemode,
            "sent_at": iso(payout.sent_at) if payout.sent_at else None,
            "paid_at": iso(payout.paid_at) if payout.paid_at else None,
            "created_at": iso(payout.created_at),
            "updated_at": iso(payout.updated_at),
        }
    )


def render_payout_account(account: PayoutAccount) -> dict[str, Any]:
    """Return a merchant's bank account as its events show it, with no more of its number than a payout."""
    return without_absent(
        {
            "object": "payout_account",
            "id": public_id("ba", account.id),
            "currency": account.currency,
            **_render_account(account),
            "livemode": account.livemode,
            "effective_at": iso(account.effective_at),
            "withdrawn_at": iso(account.withdrawn_at) if account.withdrawn_at else None,
            "created_at": iso(account.created_at),
        }
    )


def _render_account(account: PayoutAccount) -> dict[str, Any]:
    return {"holder": account.holder, "last4": account.last4, "bic": account.bic, "country": account.country}


def render_transaction(posting: Posting) -> dict[str, Any]:
    """Return a posting on one of BALANCES as the API shows it: a positive amount is the merchant's.

    Its time is that of its ID, by which lists are ordered and bounded.
    """
    return without_absent(
        {
            "object": "balance_transaction",
            "id": public_id("txn", posting.id),
            "type": posting.kind,
            "balance": BALANCES[posting.account],
            "amount": -posting.amount,
            "currency": posting.currency,
            "charge": public_id("ch", posting.charge_id) if posting.charge_id else None,
            "payout": public_id("po", posting.payout_id) if posting.payout_id else None,
            "livemode": posting.livemode,
            "created_at": iso(moment_of(posting.id)),
        }
    )
