"""What messages say, and how it becomes a mail or an SMS: the template of its kind, once for each part."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.template import Context, Engine
from django.utils.html import format_html
from django.utils.translation import override

from payments import names
from payments.domain.messages.letters import Letter
from payments.models import Merchant, PayerMessage
from payments.money import shown_amount
from payments.rendering.brand import brand_of, text_colour
from payments.sensitive_data.redaction import shortened

SUBJECT_MAX_LENGTH = 255
SPARE_LINES = re.compile(r"\n{3,}")
# Of the button, where a merchant has set no colour.
OWN_COLOUR = "#1d3557"
MAIL_TO = '<a class="ink" href="mailto:{0}" style="color:#15181d;">{0}</a>'


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
    """To whom a message goes, and what its template says it with, in its language; empty is what it does not have.

    `to` is an e-mail address or a telephone number, "" where the payer has none. Texts may be a merchant's: they are
    escaped where they are shown. `url` is where the button leads, of a page only, and `values` are all other names.
    """

    merchant: Merchant
    to: str
    amount: str
    url: str = ""
    items: Sequence[Item] = ()
    facts: Sequence[tuple[str, str]] = ()
    values: Mapping[str, Any] = field(default_factory=dict)


def letter_of(template: str, content: Content, message: PayerMessage) -> Letter:
    """Return what the template of a kind says of `content`, in the language and by the channel of the message."""
    merchant = content.merchant
    colour = brand_of(merchant.branding).secondary
    names_of_all = {
        "merchant": merchant.title,
        "amount": content.amount,
        "url": content.url,
        "locale": message.locale,
        "support_email": merchant.support_email,
        "phone": merchant.support_phone,
        # On a line each in the plain text, where nothing else keeps a merchant's words apart from ours.
        "items": [(one_line(item.name), item.note, item.amount) for item in content.items],
        "facts": [(label, one_line(value)) for label, value in content.facts],
        "is_branded": bool(colour),
        "colour": colour or OWN_COLOUR,
        "ink": text_colour(colour or OWN_COLOUR),
        **content.values,
    }

    def part(layout: str, **values: object) -> str:
        named = names_of_all | {"layout": f"mail/{layout}"} | values
        return words_of(template, named, autoescape=layout.endswith(".html")).strip()

    with override(message.locale):
        if message.channel == PayerMessage.Channel.SMS:
            return Letter(content.to, part("sms.txt"))
        return Letter(
            content.to,
            SPARE_LINES.sub("\n\n", part("layout.txt")) + "\n",
            shortened(one_line(part("subject.txt")), SUBJECT_MAX_LENGTH),
            part("layout.html", support_email=merchant.support_email and format_html(MAIL_TO, merchant.support_email)),
            sender=one_line(merchant.title),
            reply_to=merchant.support_email,
        )


def words_of(template: str, values: Mapping[str, Any], autoescape: bool = False) -> str:
    """Return what a template of `templates/mail` says with `values`, as plain text unless it escapes them."""
    source = Engine.get_default().get_template(f"mail/{template}.txt")
    return source.render(Context(values, autoescape=autoescape))


def one_line(text: str) -> str:
    """Return `text` as a header may hold it: one line, without controls and marks of direction."""
    return " ".join(filter(None, names.NOT_IN_ONE_LINE.sub(" ", text).split(" ")))
