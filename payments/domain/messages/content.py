"""What messages say, and how it becomes a mail: HTML and plain text of one template each."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import override

from payments import names
from payments.domain.messages.letters import Letter
from payments.models import Merchant
from payments.money import shown_amount

SUBJECT_MAX_LENGTH = 255
SPARE_LINES = re.compile(r"\n{3,}")


@dataclass(frozen=True, slots=True)
class Item:
    """A line of an order: a name, such as "24 × ₱650.00" below it, and its amount."""

    name: str
    note: str
    amount: str


def items_of(order: Mapping[str, Any], currency: str) -> list[Item]:
    """Return the lines of a checkout's order, without those of which none is bought."""
    bought = (item for item in order.get("line_items") or [] if item["quantity"])
    return [_line(item["name"], item["quantity"], item["amount"], currency) for item in bought]


def _line(name: str, quantity: int, each: int, currency: str) -> Item:
    note = f"{quantity} × {shown_amount(each, currency)}"
    return Item(name, note, shown_amount(each * quantity, currency))


@dataclass(frozen=True, slots=True)
class Content:
    """What a message says, in its language; empty is what it does not say.

    `to` is an e-mail address or a telephone number, "" where the payer has none. Texts may be a merchant's: they are
    escaped where they are shown. `button` is its label and address, of a page only; `sms` is the whole text of an SMS.
    """

    merchant: Merchant
    to: str
    subject: str
    title: str
    amount: str
    # What mail programs show beside the subject.
    summary: str = ""
    state: str = ""
    addressee: str = ""
    message: str = ""
    button: tuple[str, str] | None = None
    below_button: str = ""
    items: Sequence[Item] = ()
    total: str = ""
    facts: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()
    sms: str = ""


def render(content: Content, locale: str) -> Letter:
    """Return the mail that says `content` in the language of `locale`, "en" or "fil"."""
    context = {
        "content": content,
        "locale": locale,
        # On a line each in the plain text, where nothing else keeps a merchant's words apart from ours.
        "items": [(one_line(item.name), item.note, item.amount) for item in content.items],
        "facts": [(label, one_line(value)) for label, value in content.facts],
        "addressee": one_line(content.addressee),
    }
    with override(locale):
        html = render_to_string("mail/message.html", context | {"contact": _contact(content.merchant, as_link=True)})
        text = render_to_string("mail/message.txt", context | {"contact": _contact(content.merchant)})
    return Letter(
        content.to,
        SPARE_LINES.sub("\n\n", text).strip() + "\n",
        one_line(content.subject)[:SUBJECT_MAX_LENGTH],
        html,
        sender=one_line(content.merchant.title),
        reply_to=content.merchant.support_email,
    )


def one_line(text: str) -> str:
    """Return `text` as a header may hold it: one line, without controls and marks of direction."""
    return " ".join(filter(None, names.NOT_IN_ONE_LINE.sub(" ", text).split(" ")))


def _contact(merchant: Merchant, as_link: bool = False) -> SafeString | str:
    """Return whom the payer may ask; "" where the merchant has not said."""
    email, phone = merchant.support_email, merchant.support_phone
    if email and phone:
        sentence = _("Questions? Answer this mail, write to {email} or call {phone}.")
    elif email:
        sentence = _("Questions? Answer this mail or write to {email}.")
    elif phone:
        sentence = _("Questions? Call {phone}.")
    else:
        return ""
    if not as_link:
        return sentence.format(email=email, phone=phone)
    link = format_html('<a class="ink" href="mailto:{0}" style="color:#15181d;">{0}</a>', email)
    return format_html(sentence, email=link, phone=phone)
