"""Messages to payers, as they were sent, or kept in test mode."""

from typing import Any

from django.contrib import admin
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.charges.actions import offered_on_charges
from payments.admin.charges.message_preview import MessagePreview
from payments.admin.framework.actions import Action, Done
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.filters import ByMode
from payments.admin.framework.formats import NOTHING, chip, column, link, money, short_id
from payments.admin.framework.id_search import IdSearch
from payments.admin.framework.object_actions import Facts
from payments.admin.framework.reason_form import OnceForm
from payments.admin.timeline.outside import MESSAGE_MARKS
from payments.domain.messages.kinds import KINDS, label_of
from payments.domain.operators import receipts
from payments.domain.shared.errors import PaymentError
from payments.models import Charge, PayerMessage

WOULD_BE_SENT = _("In live mode it would be sent now. In test mode no message leaves: it is among the messages.")


@offered_on_charges
class SendReceipt(Action):
    """Send the receipt of a charge to its payer again."""

    name, label = "send_receipt", _("Send receipt")
    permission = "payments.resend_payermessage"
    form = OnceForm
    refusals = (PaymentError,)
    for_merchants = True
    over = _("There is no receipt to send: nothing was paid, or no e-mail address of the payer is known.")
    what_happens = _("The payer gets the receipt of this payment once more, by e-mail. No money moves.")

    def fits(self, charge: Charge) -> bool:
        return bool(receipts.address_of(charge))

    def question(self, charge: Charge) -> str:
        amount = money(charge.amount_captured, charge.currency)
        return gettext("Send the receipt of {amount} again").format(amount=amount)

    def about(self, charge: Charge) -> Facts:
        yield _("To"), receipts.address_of(charge)

    def do(self, charge: Charge, cleaned: dict[str, Any]) -> Done:
        receipts.send_again(charge)
        return gettext("The receipt is on its way.") if charge.livemode else str(WOULD_BE_SENT)


def _about(message: PayerMessage) -> SafeString | str:
    if message.kind not in KINDS:
        return message.about_id.hex
    model = KINDS[message.kind].about
    what = format_html("{} {}", model._meta.verbose_name, short_id(message.about_id.hex))
    return link(model, message.about_id, what)


@admin.register(PayerMessage)
class PayerMessageAdmin(BaseAdmin):
    """Read-only: a worker sends what is due by itself."""

    for_merchants = "what recipient standing shown about channel locale tries due ended why subject said state"
    records_views = True
    list_display = ("what", "recipient", "merchant", "standing", "created", "mode")
    file_columns = ("shown", "what", "recipient", "about", "standing", "merchant", "mode", "created")
    list_filter = (ByMode, "state", "channel", "created_at")
    list_select_related = ("merchant",)
    search_fields = ("=recipient",)
    search_help_text = _("The ID of a payment, refund or merchant, whole, or an address.")
    search = IdSearch({"": "pk about_id", "ch": "about_id", "re": "about_id", "pr": "about_id", "mer": "merchant_id"})
    fieldsets = (
        (None, {"fields": ("what", "about", "of_merchant", "mode", "channel", "locale", "created")}),
        (_("Sent"), {"fields": ("standing", "recipient", "tries", "due", "ended", "why")}),
        (_("What it says"), {"fields": ("subject", "said")}),
    )
    parts = (MessagePreview(),)
    shown = column(_("Message"), lambda message: short_id(message.pk.hex))
    what = column(_("Kind"), label_of)
    about = column(_("About"), _about)
    standing = column(_("State"), lambda message: chip(message.get_state_display(), MESSAGE_MARKS[message.state]))
    why = column(_("Why"), lambda message: gettext(message.why) or NOTHING)
    said = column(_("Text"), lambda message: format_html("<pre>{}</pre>", message.text) if message.text else NOTHING)

    def headline(self, row: PayerMessage) -> str:
        return label_of(row)
