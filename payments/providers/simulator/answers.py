"""What the books say, as the outcomes of the provider interface, and the unguessable addresses of payers' pages."""

import base64
import hashlib
from datetime import UTC, timedelta
from uuid import UUID

from django.conf import settings
from django.utils.crypto import salted_hmac

from payments import sourcetypes
from payments.providers.base import ActionRequired, Approved, BankAccount, Declined, Outcome, Pending
from payments.providers.simulator.models import SimulatedOperation, SimulatedPayment
from payments.providers.simulator.scenarios import MESSAGES, NO_FIRST_PAYMENT

# Whose account each debit of a bank is, and how long it may be debited.
ACCOUNT_NAME = "Juan dela Cruz"
ACCOUNT_LIFE = timedelta(days=365)


def refused(provider_code: str, message: str, provider_ref: str = "") -> Declined:
    """Return the refusal of an operation that the payment's state does not allow."""
    return Declined("processing_error", provider_ref, provider_code, message)


def asks_pin(payment: SimulatedPayment) -> bool:
    """Whether the payer confirms this payment by a one-time PIN."""
    return sourcetypes.shown(payment.source_type).asks_pin


def payment_outcome(payment: SimulatedPayment) -> Outcome:
    """How the question of this payment was answered; what was done with the money since is left out."""
    ref = str(payment)
    match payment.state:
        case SimulatedPayment.State.AWAITING:
            confirmation_id = f"pin_{payment.id.hex}" if asks_pin(payment) else ""
            return ActionRequired(ref, page_url(page_token(payment.reference)), confirmation_id)
        case SimulatedPayment.State.DECLINED:
            code = payment.decline_code
            ours = "authentication_required" if code == NO_FIRST_PAYMENT else code
            return Declined(ours, ref, code, MESSAGES[code], payment.cvc_checked)
        case SimulatedPayment.State.CANCELLED:
            return Declined("payer_cancelled", ref, "cancelled", "The payment was cancelled before it was made.")
        case SimulatedPayment.State.HELD | SimulatedPayment.State.CAPTURED | SimulatedPayment.State.VOIDED:
            return Approved(
                ref,
                captured=payment.capture,
                cvc_checked=payment.cvc_checked,
                network_reference=network_reference(payment),
                bank_account=_account(payment),
            )
        case unknown:
            raise ValueError(unknown)


def network_reference(payment: SimulatedPayment) -> str:
    """Return a card network's reference of a payment; empty for one of another type."""
    return f"nt_{payment.id.hex}" if payment.source_type == sourcetypes.CARD else ""


def _account(payment: SimulatedPayment) -> BankAccount | None:
    """Return the account from which a payment was debited; None for one that was paid otherwise."""
    source_type = sourcetypes.shown(payment.source_type)
    if source_type.kind != sourcetypes.Means.BANK:
        return None
    return BankAccount(
        reference_id=f"acct_{payment.id.hex}",
        bank_type=source_type.name,
        bank_code=source_type.bic,
        account_name=ACCOUNT_NAME,
        account_number=f"******{payment.id.int % 10_000:04}",
        account_type="savings",
        expires_at=(payment.created_at + ACCOUNT_LIFE).astimezone(UTC).isoformat(),
    )


def named_by_network(reference: str) -> UUID | None:
    """Return the ID of the payment that a card network's reference of ours names; None for any other text."""
    prefix, _, digits = reference.partition("_")
    return UUID(hex=digits) if prefix == "nt" and len(digits) == 32 else None


def operation_outcome(operation: SimulatedOperation) -> Outcome:
    """How a capture, void, refund or extension stands."""
    ref = str(operation)
    match operation.state:
        case SimulatedOperation.State.SUCCEEDED:
            return Approved(ref)
        case SimulatedOperation.State.PENDING:
            return Pending(ref)
        case SimulatedOperation.State.FAILED:
            return refused("refund_failed", "The payer's bank sent the refund back.", ref)
        case SimulatedOperation.State.REFUSED:
            return refused("not_possible", f"The payment is not in a state for this {operation.kind}.", ref)
        case unknown:
            raise ValueError(unknown)


def page_token(reference: str) -> str:
    """Return the token of a payment's page, 43 URL-safe characters of 256 bits.

    Derived, so that the same address is given whenever the payment is asked for; only its digest is stored.
    """
    mac = salted_hmac("kaha.simulator.page", reference, algorithm="sha256").digest()
    return base64.urlsafe_b64encode(mac).rstrip(b"=").decode()


def token_digest(token: str) -> bytes:
    """Return the SHA-256 digest by which a page is found."""
    return hashlib.sha256(token.encode()).digest()


def page_url(token: str) -> str:
    """Return the absolute address of the page with this token."""
    return f"{settings.PUBLIC_URL}/simulator/pay/{token}"
