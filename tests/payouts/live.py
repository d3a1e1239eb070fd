"""Live payouts that are approved, and the bank files that they go into."""

from datetime import date
from uuid import UUID

from django.contrib.auth.models import User
from django.test import override_settings

from payments import clock
from payments.domain.approvals import decide, payouts
from payments.domain.payouts import files
from payments.ids import new_id
from payments.models import ApprovalRequest, Merchant, Payout, PayoutAccount, PayoutFile
from tests.operators.factories import person
from tests.payouts.stories import give_account

NUMBER = "000987654321"
DEBTOR_NUMBER = "001122334455"
DEBTOR_IBAN = "DE89370400440532013000"
DEBTORS = {
    "PHP": ("BNORPHMM", DEBTOR_NUMBER),
    "EUR": ("COBADEFFXXX", DEBTOR_IBAN),
    "KWD": ("NBOKKWKW", DEBTOR_NUMBER),
}
PAY_ON = date(2026, 11, 25)


def live_account(merchant: Merchant, number: str = NUMBER, currency: str = "PHP", **members: str) -> PayoutAccount:
    """Give the merchant a bank account in live mode."""
    return give_account(merchant, number, currency, livemode=True, **members)


def ready(account: PayoutAccount, amount: int = 10_000, **columns: object) -> Payout:
    """Store an approved live payout to `account`, made of nothing."""
    about = {"merchant": account.merchant, "livemode": True, "currency": account.currency}
    payout = Payout(account=account, amount=amount, **{**about, "approved_at": clock.now(), **columns})
    payout.approval = approval_of(payout)
    payout.save(force_insert=True)
    return payout


def approval_of(row: Payout | PayoutFile) -> ApprovalRequest:
    """Store the request by which Lourdes and Efren let a payout or a file go out."""
    kind, amount = ("send_file", row.total) if isinstance(row, PayoutFile) else ("pay_out", row.amount)
    about = {"kind": kind, "merchant_id": row.merchant_id, "amount": amount, "currency": row.currency}
    decision = {"decided_by": person("efren"), "decided_at": clock.now(), "note": "Seen", "expires_at": clock.now()}
    asked = {"subject_id": row.id, "reason": "Friday", "proposed_by": person("lourdes")}
    return ApprovalRequest.objects.create(**about, **asked, **decision, state="done")


def approve(payout: Payout) -> None:
    """Store that a payout was approved."""
    Payout.objects.filter(id=payout.id).update(approval=approval_of(payout), approved_at=clock.now())


def make_file(currency: str = "PHP", by: User | None = None, file_id: UUID | None = None) -> PayoutFile:
    """Make a file, by default as Ana."""
    return payouts.make_file(file_id or new_id(), currency, PAY_ON, by or person("ana"), "Friday")


def stored_file(**columns: object) -> PayoutFile:
    """Store a file, whatever is in it."""
    made = {"count": 1, "execute_on": PAY_ON, "sealed_debtor_number": b"", "created_by": person("lourdes")}
    return PayoutFile.objects.create(**{"currency": "PHP", "total": 10_000, **made, **columns})


def put_into_file(payout: Payout) -> PayoutFile:
    """Make a file of one payout, for tests of what is shown of it."""
    with override_settings(PAYOUT_DEBTOR_NAME="Kaha", PAYOUT_DEBTOR_ACCOUNTS=DEBTORS):
        return make_file(payout.currency, person("lourdes"))


def sent(file: PayoutFile) -> PayoutFile:
    """Download a file, and mark it as sent by Ben."""
    files.download(file)
    decide.approve_or_ask(file, person("ben"), "Seen")
    file.refresh_from_db()
    return file
