"""Who a row is about: its payer and its merchant, and how they are reached."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from payments.admin.framework.formats import link
from payments.admin.framework.object_actions import Part
from payments.models import Merchant, Source

MAY_SEE_CONTACT = "payments.view_source"
REACHED_BY = ("name", "email", "phone_number")
NOT_OF_A_NUMBER = re.compile(r"[^0-9+]")
Address = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody in a `role`; `shown` is the name as a page has it, and `more` what else is known of them."""

    role: str
    name: str
    shown: object
    more: Sequence[object] = ()

    @property
    def initials(self) -> str:
        """The first letters of the first and the last word of the name."""
        words = self.name.split()
        return "".join(word[0] for word in dict.fromkeys((words[0], words[-1]))).upper() if words else ""


# Yields further people of a source; other apps add theirs.
OfSource = Callable[[HttpRequest, Source], Iterable[Person]]
_of_sources: list[OfSource] = []


def people_of_source(maker: OfSource) -> OfSource:
    """Register `maker` for the people of a source, and return it."""
    _of_sources.append(maker)
    return maker


class People(Part):
    """The payer, where `source_of` leads from a row to its source, and the merchant, if it has one."""

    for_merchants = True

    def __init__(
        self,
        source_of: Callable[[Any], Source | None] | None = None,
        merchant_of: Callable[[Any], Merchant | None] = lambda row: row.merchant,
    ) -> None:
        self.source_of, self.merchant_of = source_of, merchant_of

    def beside_row(self, page: Any, request: HttpRequest, row: Any) -> dict[str, Any]:
        return {"people": self.people(page, request, row)}

    def people(self, page: Any, request: HttpRequest, row: Any) -> Sequence[Person]:
        people: list[Person] = []
        if self.source_of and (source := self.source_of(row)):
            people = [_payer(request, source), *(one for maker in _of_sources for one in maker(request, source))]
        merchant = self.merchant_of(row)
        if merchant is None or not page.policy.is_for_operators:
            return people
        reached = [mail_link(merchant.support_email), phone_link(merchant.support_phone)]
        shown = link(Merchant, merchant.pk, merchant)
        return [*people, Person(_("Merchant"), merchant.title, shown, list(filter(None, reached)))]


def mail_link(address: str | None) -> SafeString | str:
    """Return an e-mail address as a link that writes to it; "" for none."""
    return format_html('<a href="mailto:{0}">{0}</a>', address) if address else ""


def phone_link(number: str | None) -> SafeString | str:
    """Return a telephone number as a link that calls it; "" for none."""
    return format_html('<a href="tel:{}">{}</a>', NOT_OF_A_NUMBER.sub("", number), number) if number else ""


def _payer(request: HttpRequest, source: Source) -> Person:
    name = source.payer_name or _("Name not sent")
    more = list(_contact(source)) if request.user.has_perm(MAY_SEE_CONTACT) else []
    return Person(_("Payer"), name, link(Source, source.pk, name), more)


def _contact(source: Source) -> Iterator[object]:
    """Yield how a payer is reached: what was sent as billing, and what differs for shipping."""
    owner, card = source.owner or {}, getattr(source, "card", None)
    billing, shipping = owner.get("billing") or {}, owner.get("shipping") or {}
    of_card = {name.removeprefix("address_"): value for name, value in (card.address if card else {}).items()}
    billed, sent_to = _address(billing) or _address(of_card), _address(shipping)
    yield from filter(None, (mail_link(billing.get("email")), phone_link(billing.get("phone_number")), billed))
    others = [shipping.get(name) for name in REACHED_BY if shipping.get(name) != billing.get(name)]
    if different := [*filter(None, others), *([sent_to] if sent_to and sent_to != billed else [])]:
        yield _("Ship to {address}").format(address=", ".join(different))


def _address(sent: Address) -> str:
    """Return an address in one line; also that of a card, whose members have other names."""
    town = " ".join(filter(None, (sent.get("zip_code") or sent.get("zip"), sent.get("city"))))
    return ", ".join(filter(None, (sent.get("line1"), sent.get("line2"), town, sent.get("state"), sent.get("country"))))
