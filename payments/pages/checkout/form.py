"""The form of a checkout: what it asks for, and what the payer wrote, as a choice or as errors by field."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any

from django.utils.translation import gettext as _

from payments import sourcetypes
from payments.names import tidied
from payments.pages.checkout import fields
from payments.pages.checkout.countries import HOME, all_codes
from payments.pages.checkout.fields import Field, Wrong
from payments.sensitive_data.card_numbers import holds_card_number

NOTHING: Mapping[str, str] = MappingProxyType({})
BILLING, SHIPPING = "billing", "shipping"
OWNER_LENGTHS = {"name": 50, "phone_number": 50, "city": 100, "state": 50, "country": 50, "zip_code": 50}


@dataclass(frozen=True, slots=True)
class Asked:
    """What a checkout asks its payer for: one of `types`, and what is true here; `receipt` is the address for one.

    `countries` are those to which the merchant ships; none, and no address is asked for. `known` is what was given
    before, by the names of the fields.
    """

    types: tuple[str, ...]
    email: bool = False
    receipt: bool = False
    name: bool = False
    phone: bool = False
    billing: bool = False
    countries: tuple[str, ...] = ()
    known: Mapping[str, str] = field(default_factory=dict)

    @property
    def contact(self) -> list[Field]:
        """Return the fields about the payer."""
        wanted = (
            (self.name, fields.NAME),
            (self.email, fields.EMAIL),
            (self.receipt, fields.RECEIPT_EMAIL),
            (self.phone, fields.PHONE_NUMBER),
        )
        return [each for is_wanted, each in wanted if is_wanted]


@dataclass(slots=True)
class PayForm:
    """What the payer wrote: `values` to be shown again, `errors` by field, and of a whole form what was chosen.

    `values` and `errors` are by the names of the fields, those of an address with its kind: `shipping-city`.
    `refused_card` are the last digits of a card that was declined before, "" without one.
    """

    way: str
    values: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    card: dict[str, str] | None = field(default=None, repr=False)
    owner: dict[str, Any] | None = None
    payer: dict[str, Any] = field(default_factory=dict)
    refused_card: str = ""


def blank(asked: Asked, way: str = "") -> PayForm:
    """Return the form as it is shown first, with what is known."""
    return PayForm(way if way in asked.types else asked.types[0], dict(asked.known))


def read(posted: Mapping[str, str], asked: Asked, now: datetime) -> PayForm:
    """Return what a payer sent. A field that was not asked for is passed over, and so is a card of no use."""
    form = PayForm(posted.get("way", ""))
    if form.way not in asked.types:
        form.way = asked.types[0]
        form.errors["way"] = _("Choose one of the ways to pay")
    reader = _Reader(posted, form, asked.known)
    contact = {each.name: reader.value(each) for each in asked.contact}
    addresses = _addresses(reader, asked)
    if form.way == sourcetypes.CARD:
        form.card = _card(reader, now)
    form.payer = {name: value for name, value in contact.items() if value} | addresses
    # An address that the shop gave is not asked for again.
    form.owner = _owner({"email": asked.known.get("email", "")} | form.payer, form.card)
    return form


def read_one(posted: Mapping[str, str], one: Field) -> PayForm:
    """Return what a payer wrote into the only field of a form."""
    form = PayForm("")
    _Reader(posted, form).value(one)
    return form


class _Reader:
    """Reads single fields into a form."""

    def __init__(
        self, posted: Mapping[str, str], form: PayForm, known: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self._posted, self._form, self._known = posted, form, known

    def value(self, one: Field, kind: str = "") -> str:
        """Return the value of a field, "" for one with an error, which is noted."""
        name = f"{kind}-{one.name}" if kind else one.name
        # A NUL is refused by the database, and an invisible character helps nobody but a deceiver.
        text = " ".join("".join(char if char.isprintable() else " " for char in self._posted.get(name, "")).split())
        try:
            return self._checked(one, name, text)
        except Wrong as wrong:
            self._form.errors[name] = str(wrong)
            return ""

    def _checked(self, one: Field, name: str, text: str) -> str:
        if not one.secret and holds_card_number(text):
            # It is not written back into the page either.
            raise Wrong(_("A card number is only safe in the field for it. Write something else here"))
        if not one.secret:
            self._form.values[name] = text
        if len(text) > one.max_length:
            raise Wrong(_("Write at most %(count)s characters") % {"count": one.max_length})
        if not text and one.missing:
            raise Wrong(str(one.missing))
        # What the API has taken is taken here.
        is_known = text == " ".join(self._known.get(name, "").split())
        return one.check(text) if text and not is_known else text

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """Return what was chosen; the home country, or the first of `choices`, where none of them was."""
        usual = HOME if HOME in choices else choices[0]
        chosen = self._posted.get(name, "")
        self._form.values[name] = chosen if chosen in choices else usual
        return self._form.values[name]

    def is_ticked(self, name: str) -> bool:
        """Return whether a box was ticked."""
        self._form.values[name] = "1" if self._posted.get(name) else ""
        return bool(self._posted.get(name))

    def note(self, name: str, wrong: Wrong) -> None:
        """Add the error of a field."""
        self._form.errors[name] = str(wrong)


def _addresses(reader: _Reader, asked: Asked) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    if asked.countries:
        found[SHIPPING] = _address(reader, SHIPPING, asked.countries)
    if asked.billing:
        is_same = bool(asked.countries) and reader.is_ticked("same")
        found[BILLING] = found[SHIPPING] if is_same else _address(reader, BILLING, all_codes())
    return found


def _address(reader: _Reader, kind: str, countries: tuple[str, ...]) -> dict[str, str]:
    address = {each.name: reader.value(each, kind) for each in fields.ADDRESS}
    address["country"] = reader.choice(f"{kind}-country", countries)
    try:
        fields.check_postal_code(address["postal_code"], address["country"], HOME)
    except Wrong as wrong:
        reader.note(f"{kind}-postal_code", wrong)
    return address


def _card(reader: _Reader, now: datetime) -> dict[str, str]:
    number, expiry, cvc, name = (reader.value(each) for each in fields.CARD)
    month, year = "", ""
    if expiry:
        try:
            month, _slash, year = fields.check_expiry(expiry, now).partition("/")
        except Wrong as wrong:
            reader.note(fields.EXPIRES.name, wrong)
    holder = tidied(name, fields.NAME_MAX_LENGTH)
    if name and not holder:
        reader.note(fields.HOLDER.name, Wrong(_("Write the name as on your card, for example Maria Santos")))
    return {"name": holder, "number": number, "exp_month": month, "exp_year": year, "cvc": cvc}


def _owner(payer: Mapping[str, Any], card: Mapping[str, str] | None) -> dict[str, Any] | None:
    """Return the owner of the source, which risk rules and providers read."""
    name = payer.get("name") or (card or {}).get("name") or payer.get(BILLING, payer.get(SHIPPING, {})).get("name", "")
    contact = {"name": name, "phone_number": payer.get("phone", "")}
    billing = _tidied_values(contact | _as_owners(payer.get(BILLING) or {}))
    if email := payer.get("email"):
        billing["email"] = email
    parts = {BILLING: billing, SHIPPING: _tidied_values(_as_owners(payer.get(SHIPPING) or {}))}
    owner = {"name": tidied(name, fields.NAME_MAX_LENGTH)} | parts
    return {key: value for key, value in owner.items() if value} or None


def _tidied_values(given: Mapping[str, str]) -> dict[str, str]:
    values = ((key, tidied(text, OWNER_LENGTHS.get(key, 255))) for key, text in given.items())
    return {key: value for key, value in values if value}


def _as_owners(address: Mapping[str, str]) -> dict[str, str]:
    """Return an address as the owner of a source has it, which knows no barangay."""
    if not address:
        return {}
    second = ", ".join(filter(None, (address["line2"], address["barangay"])))
    same = {name: address[name] for name in ("name", "line1", "city", "state", "country")}
    return same | {"line2": second, "zip_code": address["postal_code"]}
