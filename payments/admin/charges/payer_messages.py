"""Messages to payers, as they were sent, or kept in test mode."""

from django.contrib import admin
from django.utils.html import format_html
from django.utils.safestring import SafeString

from payments.admin.framework.base import ReadOnlyAdmin
from payments.admin.framework.filters import ByMode
from payments.admin.framework.formats import NOTHING, chip, column, link, moment_column, short_id
from payments.admin.framework.id_search import IdSearch
from payments.admin.timeline.outside import MESSAGE_MARKS
from payments.domain.payer_messages.kinds import KINDS, label_of
from payments.models import PayerMessage


def _about(message: PayerMessage) -> SafeString | str:
    if message.kind not in KINDS:
        return message.about_id.hex
    model = KINDS[message.kind].about
    return link(model, message.about_id, f"{model._meta.verbose_name} {short_id(message.about_id.hex)}")


@admin.register(PayerMessage)
class PayerMessageAdmin(ReadOnlyAdmin):
    """Read-only: a worker sends what is due by itself."""

    records_views = True
    merchant_lookup = "merchant"
    list_display = ("what", "recipient", "merchant", "standing", "created", "mode")
    file_columns = ("shown", "what", "recipient", "about", "standing", "merchant", "mode", "created")
    list_filter = (ByMode, "state", "channel", "created_at")
    list_select_related = ("merchant",)
    search_fields = ("=recipient",)
    search_help_text = "The ID of a payment, refund or merchant, whole, or an address."
    search = IdSearch({"": "pk about_id", "ch": "about_id", "re": "about_id", "pr": "about_id", "mer": "merchant_id"})
    fieldsets = (
        (None, {"fields": ("what", "about", "of_merchant", "mode", "channel", "locale", "created")}),
        ("Sent", {"fields": ("standing", "recipient", "tries", "due", "ended", "why")}),
        ("What it says", {"fields": ("subject", "said")}),
    )
    shown = column("Message", lambda message: short_id(message.pk.hex))
    what = column("Kind", label_of)
    about = column("About", _about)
    standing = column("State", lambda message: chip(message.get_state_display(), MESSAGE_MARKS[message.state]))
    due = moment_column("due_at")
    ended = moment_column("ended_at")
    said = column("Text", lambda message: format_html("<pre>{}</pre>", message.text) if message.text else NOTHING)
