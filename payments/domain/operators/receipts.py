"""The receipt of a charge that an operator sends to its payer again."""

from datetime import timedelta

from django.db import transaction

from payments import clock
from payments.db.writes import execute_writes
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.catalogue.error_table import RATE_LIMITED, TOO_MANY
from payments.domain.catalogue.refusal_texts import said
from payments.domain.messages.outbox import is_ready, message_of
from payments.domain.messages.receipts import AGAIN, email_of, locale_of
from payments.domain.shared.errors import PaymentError
from payments.models import Charge, PayerMessage

DAY, SENT_A_DAY_MAX = timedelta(days=1), 3


def address_of(charge: Charge) -> str:
    """Return where the receipt of a charge may be sent again; "" where nothing was paid, or no address is known."""
    is_paid = charge.captured and charge.status != Charge.Status.VOIDED
    return email_of(charge.source) if is_paid and is_ready(charge.livemode, PayerMessage.Channel.EMAIL) else ""


@transaction.atomic
def send_again(charge: Charge) -> None:
    """Send the receipt of a charge to its payer again. Raise PaymentError after SENT_A_DAY_MAX times in a day."""
    # Of two at once, one waits and counts the other's.
    Charge.objects.select_for_update(no_key=True).get(merchant_id=charge.merchant_id, pk=charge.pk)
    sent = PayerMessage.objects.filter(merchant_id=charge.merchant_id, about_id=charge.id, kind=AGAIN)
    if sent.filter(created_at__gt=clock.now() - DAY).count() >= SENT_A_DAY_MAX:
        message = said(
            "This receipt was sent again {count} times within a day, which is the limit.", count=SENT_A_DAY_MAX
        )
        raise PaymentError(TOO_MANY, RATE_LIMITED, message)
    last = sent.order_by("-sequence").values_list("sequence", flat=True).first() or 0
    owner = charge.merchant_id, charge.livemode
    execute_writes(message_of(*owner, AGAIN, charge.id, last + 1, locale=locale_of(charge)))
    audit_log.record(Action.SENT_AGAIN, charge, detail="receipt")
