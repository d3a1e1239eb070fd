"""The columns of customers and cards that come and go: what each stands for, which values come in, and what goes out.

They are those of Hyperswitch's batch migration, and some of our own; names of Stripe's export stand for them.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rest_framework.exceptions import ValidationError

from customers.api.consent import Consent
from customers.api.serializers import CustomerInput
from customers.domain.imported import IMPORTED
from customers.models import Customer
from customers.moving.files import BadRow, Values
from payments import sourcetypes
from payments.api.responses.errors import ApiError, faults_of, invalid
from payments.api.validation.fields import NameSafe, OneOf, StrictString
from payments.api.validation.metadata import Metadata
from payments.api.validation.parsers import loads
from payments.api.validation.serializers import CardInput, OwnerInput
from payments.api.validation.strict import StrictSerializer
from payments.domain.cards.bin_table import describe
from payments.domain.cards.card_data import card_data
from payments.domain.shared.caller import Caller
from payments.ids import public_id
from payments.json_codecs.verbatim_json import dumps
from payments.models.charging.source import BRANDS, NETWORK_REFERENCE_MAX_LENGTH, UNKNOWN

# The place of each in a row, in the order of an export.
PLACES: Mapping[str, str] = {
    **{"customer_id": "customer_id", "email": "customer.email", "description": "customer.description"},
    **{"phone": "customer.mobile_number", "customer_metadata": "customer.metadata"},
    **{"payment_instrument_id": "card_id", "raw_card_number": "card.number", "card_holder_name": "card.name"},
    **{"card_expiry_month": "card.exp_month", "card_expiry_year": "card.exp_year"},
    **{"card_scheme": "scheme", "original_transaction_id": "reference"},
    **{f"billing_{part}": f"card.{part}" for part in map(str, CardInput().fields) if part.startswith("address_")},
    **{f"consent_{part}": f"consent.{part}" for part in Consent().fields},
    **{"owner": "owner", "card_metadata": "metadata"},
}
# Of Stripe, whose other names are places.
STRIPE = {
    **{"id": "customer_id", "metadata": "customer.metadata", "card.id": "card_id"},
    **{"card.brand": "scheme", "card.transaction_ids": "reference"},
}
JSON, READ_AT_ONCE = ("customer.metadata", "owner", "metadata"), 500
# What no text in the database has, or a line that was too long, and what stands for bytes that are no UTF-8.
UNREADABLE = re.compile("[\0\ufffd\ud800-\udfff]")


def _id(**options: Any) -> StrictString:
    return StrictString(max_length=255, pattern=r"[A-Za-z0-9][A-Za-z0-9_.:/-]*", **options)


class _Card(CardInput):
    cvc = None  # type: ignore[assignment] # takes the field away
    name = NameSafe(min_length=0, max_length=50, required=False, default="")
    exp_year = StrictString(max_length=4, pattern="20[0-9]{2}")  # type: ignore[assignment] # also one that is over

    def check_together(self, data: Mapping[str, Any], errors: dict[str, Any]) -> None:
        """Take an expired card too."""


class _Row(StrictSerializer):
    customer_id = _id()
    customer = CustomerInput()
    card_id = _id(required=False)
    card = _Card(required=False)
    scheme = OneOf(BRANDS, required=False)
    reference = StrictString(max_length=NETWORK_REFERENCE_MAX_LENGTH, pattern="[A-Za-z0-9_.-]+", required=False)
    consent = Consent(required=False)
    owner = OwnerInput(required=False)
    metadata = Metadata(required=False)


ROW = _Row()


def checked(values: Values | BadRow, named: Mapping[str, str]) -> dict[str, Any]:
    """Return the valid row of these values, whose columns may be `named` otherwise. Raise BadRow."""
    if isinstance(values, BadRow):
        raise values
    if any(UNREADABLE.search(value) for value in values.values()):
        raise BadRow("It has a NUL, bytes that are not UTF-8, or too many of them.")
    try:
        row: dict[str, Any] = ROW.run_validation(_members(values, named))
    except ValidationError as refusal:
        # Names of members are theirs, and may be a number too.
        faults = invalid(faults_of(refusal.detail, ("row",))).errors
        raise BadRow(" ".join(f"{fault.name}: {fault.msg}" for fault in faults)) from None
    except ApiError:
        raise BadRow("A cell that must be a JSON object is none.") from None
    brand = describe(row["card"]["number"]).brand if "card" in row else ""
    if brand == UNKNOWN:
        raise BadRow("card.number: No scheme that we know issues this card.")
    if "reference" in row and row.get("scheme", brand) != brand:
        raise BadRow(f"reference: It is not of {brand}, as the card is.")
    return row


def _members(values: Values, named: Mapping[str, str]) -> dict[str, Any]:
    """Return the members of a row, nested, of the columns that are known. Raise ApiError."""
    places = {**STRIPE, **PLACES, **{theirs: PLACES[ours] for theirs, ours in named.items()}}
    given = {places.get(name, name): value for name, value in values.items() if value}
    given.setdefault("card.number", given.get("card_number_masked", ""))
    if given.get("reference", "").startswith("{"):  # by its scheme
        given["scheme"], given["reference"] = next(iter(loads(given["reference"].encode()).items()), ("", ""))
    row: dict[str, Any] = {"customer": {}}
    for place in PLACES.values():
        head, _, tail = place.partition(".")
        if value := given.get(place):
            (row.setdefault(head, {}) if tail else row)[tail or head] = (
                loads(value.encode()) if place in JSON else value
            )
    name, about, card = given.get("name"), row["customer"], row.get("card")
    about.setdefault("description", name or about.get("email"))
    if name:
        about.setdefault("metadata", {}).setdefault("name", name)
    if not about.get("mobile_number", "+").startswith("+"):
        about["mobile_number"] = given.get("phone_country_code", "") + about["mobile_number"]
    if card:
        card.setdefault("name", name)
        year = card.get("exp_year", "")
        card["exp_year"] = f"20{year}" if len(year) == 2 else year
    if scheme := row.get("scheme"):
        row["scheme"] = next((brand for brand in BRANDS if brand in scheme.lower().replace(" ", "")), UNKNOWN)
    return row


def lines_of(caller: Caller, *, with_cards: bool) -> Iterator[bytes]:
    """Yield the lines of customers and their cards, in the order they came. Raise VaultError, VaultUnavailable."""
    yield _line(PLACES)
    present = Customer.objects.of(caller.merchant_id, caller.livemode).present().order_by("created_at", "id")
    for customer in present.whole(caller.merchant_id).iterator(READ_AT_ONCE):
        kept = [tie.source for tie in reversed(customer.kept) if with_cards and tie.source.type == sourcetypes.CARD]
        rows = [_row(customer, source) for source in kept if source.card.sealed_number]
        for row in rows or [_row(customer, None)]:
            yield _line(_cell(row, place) for place in PLACES.values())


def _row(customer: Customer, source: Any) -> dict[str, Any]:
    """Return the row of a customer with a card, or None, as an import reads it."""
    row: dict[str, Any] = {"customer_id": public_id("cus", customer.id), "customer": vars(customer)}
    if source:
        card = source.card
        row |= {name: getattr(source, name) for name in ("consent", "owner", "metadata")}
        row |= {"card_id": public_id("src", source.id), "reference": card.network_reference}
        row["card"] = {**vars(card), **card.address, "number": card_data(card).number}
        row["scheme"] = card.brand if card.brand != UNKNOWN else ""
    return row


def _cell(row: dict[str, Any], place: str) -> str:
    head, _, tail = place.partition(".")
    value = (row.get(head) or {}).get(tail) if tail else row.get(head)
    if place in JSON and value:
        # Without the ID of an earlier move: who has moved knows the one of here.
        value = {name: each for name, each in value.items() if name != IMPORTED}
        return dumps(value) if value else ""
    return value or ""


def _line(cells: Iterable[str]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerow(cells)
    return text.getvalue().encode()
