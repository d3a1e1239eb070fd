from typing import Any

from django import forms
from django.contrib import admin
from django.core.validators import RegexValidator
from django.db.models import Q
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext

from payments.admin.columns import UNNAMED
from payments.admin.contacts import People
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.filters import ByMode, by, by_type_of, one_of
from payments.admin.framework.formats import (
    NOTHING,
    chip,
    column,
    id_column,
    id_link_column,
    lines,
    link,
    money,
    search_link,
    short_id,
    source_label,
)
from payments.admin.framework.id_search import IdSearch
from payments.admin.framework.reason_form import TextForm, offer_stored
from payments.admin.shown_times import moment_cell
from payments.domain.cards.bin_table import PREFIX_LENGTHS
from payments.ids import public_id
from payments.models import BinRange, Card, Charge, Event, Source
from payments.models.charging.source import BRANDS, FUNDINGS, UNKNOWN, brand_name

SHOWN_CHARGES = 50


BySourceUse = by(
    "use",
    unused=("Unused", Q(used=False)),
    used=("Used", Q(used=True, vaulted=False)),
    vaulted=("Vaulted", Q(vaulted=True)),
)


class IssuerColumns:
    """What the BIN table says of a card, as far as it knows."""

    scheme = column("Brand", lambda row: brand_name(row.brand))
    funded = column("Funding", lambda row: _known(row.funding).capitalize())
    issued_in = column("Country", lambda row: _known(row.country))
    issuer = column("Issuing bank", lambda row: _known(row.issuing_bank))


def _known(value: str) -> str:
    return "" if value == UNKNOWN else value


def charge_line(charge: Charge) -> SafeString:
    """Return a charge in a line: what it was for, with its link, and its amount and state."""
    shown = link(Charge, charge.pk, charge.description or short_id(str(charge)))
    return format_html("{} {} {}", shown, money(charge.amount, charge.currency), gettext(charge.status))


@admin.register(Source)
class SourceAdmin(BaseAdmin):
    parts = (People(lambda source: source),)
    list_display = ("payer", "label", "merchant", "standing", "created", "mode")
    file_columns = ("public_id", "created", "label", "used", "vaulted", "merchant", "mode")
    list_filter = (BySourceUse, ByMode, by_type_of("type"), "created_at")
    list_select_related = ("merchant", "card")
    search_fields = ("card__name",)
    search = IdSearch(
        {"src": "pk", "card": "card__pk", "ch": "charges__pk", "re": "charges__refunds__pk", "mer": "merchant_id"},
        objects="pk charges__pk",
        last4="card__last4",
    )
    fieldsets = (
        (None, {"fields": ("public_id", "card_link", "label", "used", "vaulted", "events", "charge_links")}),
        (
            "As sent",
            {"fields": ("shown_redirect", "shown_owner", "shown_bank_account", "shown_metadata", "shown_consent")},
        ),
        ("Times", {"fields": ("created", "updated", "of_merchant", "mode", "version")}),
    )
    payer = column("Payer", lambda source: source.payer_name or UNNAMED)
    label = column("Type", source_label)
    standing = column("State", lambda source: chip(*_standing(source)))
    events = column("Events", lambda source: search_link(Event, public_id("src", source.id), "its events"))

    def headline(self, row: Source) -> str:
        name = row.payer_name
        return f"{source_label(row)}{name and f' of {name}'}"

    @admin.display(description="Card")
    def card_link(self, source: Source) -> str:
        card = getattr(source, "card", None)
        return link(Card, card.id, card) if card else NOTHING

    @admin.display(description="Charges")
    def charge_links(self, source: Source) -> SafeString | str:
        newest = source.charges.order_by("-id")[:SHOWN_CHARGES]
        return lines(charge_line(charge) for charge in newest)


@admin.register(Card)
class CardAdmin(IssuerColumns, BaseAdmin):
    """The plain columns of a card; of the encrypted number and CVC only whether they are still stored."""

    merchant_lookup = "source__merchant"
    list_display = ("shown", "name", "issuer", "issued_in", "funded", "expiry")
    file_columns = ("public_id", "brand", "last4", "expiry", "name", "issuing_bank", "country", "funding")
    list_filter = (one_of("brand", BRANDS, BRANDS), "cvc_checked")
    search_fields = ("name",)
    search = IdSearch(
        {"card": "pk", "src": "source_id", "ch": "source__charges__pk"}, objects="source_id", last4="last4"
    )
    fieldsets = (
        (None, {"fields": ("public_id", "of_source", "scheme", "bin", "last4", "expiry", "name")}),
        ("From the BIN table", {"fields": ("funded", "issued_in", "issuer")}),
        ("Encrypted", {"fields": ("keeps_number", "number_expires", "keeps_cvc", "cvc_expires", "cvc_checked")}),
        ("Kept for a customer", {"fields": ("checked", "network_reference", "refused")}),
        ("As sent", {"fields": ("shown_address",)}),
    )
    public_id = id_column("card")
    shown = column("Card", str)
    of_source = id_link_column("source", "src", Source)
    keeps_number = column("Number", lambda card: _is_kept(card.sealed_number))
    keeps_cvc = column("CVC", lambda card: _is_kept(card.sealed_cvc))
    expiry = column("Expiry", lambda card: f"{card.exp_month:0>2}/{card.exp_year}")

    def headline(self, row: Card) -> str:
        return str(row)

    @admin.display(description="Checked")
    def checked(self, card: Card) -> str:
        """Return when a payment with the card's owner was approved first, or that none was."""
        return moment_cell(card.checked_at) if card.checked_at else "Never: no payment with its owner was approved yet"


def _standing(source: Source) -> tuple[str, str]:
    if source.vaulted:
        return "kept", "good"
    return ("used", "quiet") if source.used else ("unused", "warn")


def _is_kept(sealed: bytes | None) -> str:
    return "not kept" if sealed is None else "kept"


check_prefix = RegexValidator(
    rf"\A[0-9]{{{min(PREFIX_LENGTHS)},{max(PREFIX_LENGTHS)}}}\Z",
    f"Give {min(PREFIX_LENGTHS)} to {max(PREFIX_LENGTHS)} digits.",
)


class BinRangeForm(TextForm, forms.ModelForm):
    brand = forms.ChoiceField(choices=BRANDS.items())
    funding = forms.ChoiceField(choices=[(name, capfirst(name)) for name in FUNDINGS])
    country = forms.RegexField(r"\A([A-Z]{2}|unknown)\Z", initial="unknown", help_text="ISO 3166 alpha-2, or unknown.")

    class Meta:
        model = BinRange
        fields = ("prefix", "brand", "funding", "country", "issuing_bank")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_stored(self)

    def clean_prefix(self) -> str:
        check_prefix(self.cleaned_data["prefix"])
        return str(self.cleaned_data["prefix"])


@admin.register(BinRange)
class BinRangeAdmin(IssuerColumns, BaseAdmin):
    is_edited = True
    merchant_lookup = None
    form = BinRangeForm
    list_display = ("prefix", "issuer", "scheme", "funded", "issued_in")
    file_columns = ("prefix", "brand", "funding", "country", "issuing_bank")
    list_filter = (one_of("brand", BRANDS, BRANDS), one_of("funding", FUNDINGS))
    ordering = ("prefix",)
    search_fields = ("prefix__startswith", "issuing_bank")
    search_help_text = "First digits, or a bank's name."

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Make the prefix read-only on an existing row: it is the primary key."""
        return ("prefix",) if obj else ()
