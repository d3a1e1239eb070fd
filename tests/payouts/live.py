"""Live payouts that are approved, and the bank files that they go into."""

from datetime import date, timedelta
from uuid import UUID

from django.contrib.auth.models import User

from payments import clock
from payments.domain.payouts import files
from payments.ids import new_id
from payments.models import Merchant, Payout, PayoutAccount, PayoutFile
from payments.vault import Place, Purpose, seal
from tests.operators.factories import person

NUMBER = "000987654321"
DEBTOR_NUMBER = "001122334455"
DEBTOR_IBAN = "DE89370400440532013000"
DEBTORS = {
    "PHP": ("BNORPHMM", DEBTOR_NUMBER),
    "EUR": ("COBADEFFXXX", DEBTOR_IBAN),
    "KWD": ("NBOKKWKW", DEBTOR_NUMBER),
}
PAY_ON = date(2026, 11, 25)


def live_account(
    merchant: Merchant, number: str = NUMBER, currency: str = "PHP", holder: str = "Sari Store"
) -> PayoutAccount:
    """Give the merchant a bank account in live mode, in effect since yesterday."""
    account_id, now = new_id(), clock.now()
    return PayoutAccount.objects.create(
        id=account_id,
        merchant=merchant,
        livemode=True,
        currency=currency,
        holder=holder,
        bic="BNORPHMM",
        country="PH",
        sealed_number=seal(number, Place(Purpose.SECRET, merchant.id, account_id, "number")),
        last4=number[-4:],
        created_at=now - timedelta(days=2),
        effective_at=now - timedelta(days=1),
    )


def ready(account: PayoutAccount, amount: int = 10_000, **columns: object) -> Payout:
    """Store an approved live payout to `account`, made of nothing."""
    approval = {"approved_by": person("ana"), "approved_at": clock.now()}
    about = {"merchant": account.merchant, "livemode": True, "currency": account.currency}
    return Payout.objects.create(account=account, amount=amount, **{**about, **approval, **columns})


def approve(payout: Payout) -> None:
    """Approve a payout by Ana."""
    Payout.objects.filter(id=payout.id).update(approved_by=person("ana"), approved_at=clock.now())


def make_file(currency: str = "PHP", by: User | None = None, file_id: UUID | None = None) -> PayoutFile:
    """Make a file, by default as Ana."""
    return files.make(file_id or new_id(), currency, PAY_ON, by or person("ana"))


def put_into_file(payout: Payout) -> PayoutFile:
    """Store a file of one payout, for tests of what is shown of it."""
    file_id = new_id()
    file = PayoutFile.objects.create(
        id=file_id,
        currency=payout.currency,
        count=1,
        total=payout.amount,
        execute_on=PAY_ON,
        debtor_name="Kaha",
        debtor_bic="BNORPHMM",
        debtor_last4=DEBTOR_NUMBER[-4:],
        sealed_debtor_number=seal(DEBTOR_NUMBER, Place(Purpose.SECRET, file_id, file_id, "debtor_number")),
        created_by=person("lourdes"),
    )
    Payout.objects.filter(id=payout.id).update(file=file)
    return file


def sent(file: PayoutFile) -> PayoutFile:
    """Download a file, and mark it as sent by Ben."""
    files.download(file)
    file.refresh_from_db()
    files.mark_sent(file, person("ben"))
    file.refresh_from_db()
    return file
