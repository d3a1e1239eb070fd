"""The forms that block a card, a BIN, an e-mail address or the address of a program that calls."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator, validate_email
from django.db.models import QuerySet

from payments.admin.framework.reason_form import HiddenNumberInput, ReasonForm
from payments.domain.cards.card_data import BIN_LENGTH
from payments.domain.risk import blocks
from payments.domain.risk.addresses import counted
from payments.models import Block, Merchant, Source
from payments.models.risk.block import BIN_DIGITS
from payments.sensitive_data.luhn import luhn_valid

NO_END = ""
LASTS = {NO_END: "No end", "1": "1 day", "7": "7 days", "30": "30 days", "90": "90 days"}
MODES = [("live", "Live"), ("test", "Test")]
EMAIL_MAX_LENGTH = 254
CARD, BIN, ADDRESS = "card", "bin", "address"
CARD_DIGITS = RegexValidator(r"\A[0-9]{16}\Z", "A card number has 16 digits.")


# One of these fields is given.
SUBJECTS = ("number", "bin", "email", "domain", "address")


class BlockForm(ReasonForm):
    """The scope of a block: one of `merchants`, or all if `everywhere`."""

    merchant = forms.ModelChoiceField(Merchant.objects.none(), required=False, empty_label="All merchants")
    lasts = forms.ChoiceField(label="For how long", choices=list(LASTS.items()), required=False)

    def __init__(self, data: Any, merchants: QuerySet[Merchant], everywhere: bool) -> None:
        super().__init__(data)
        chosen: Any = self.fields["merchant"]
        chosen.queryset, chosen.required = merchants, not everywhere
        if not everywhere:
            chosen.empty_label = None

    def lasts_for(self) -> timedelta | None:
        """Return how long the block lasts; None without an end."""
        days = self.cleaned_data["lasts"]
        return timedelta(days=int(days)) if days else None

    def block_of(self, subject: Mapping[str, Any]) -> Block:
        """Return the unsaved block of `subject`: what is blocked, and in which mode."""
        return Block(merchant=self.cleaned_data["merchant"], reason=self.cleaned_data["reason"], **subject)


class AnyBlockForm(BlockForm):
    """A form that blocks one of the things by which payers and callers are known."""

    number = forms.CharField(
        label="Card number",
        max_length=30,
        required=False,
        widget=HiddenNumberInput,
        help_text="It is not stored: only the fingerprint by which the card is recognized.",
    )
    bin = forms.CharField(
        label="Or the first six digits (BIN)",
        max_length=BIN_LENGTH,
        required=False,
        validators=[BIN_DIGITS],
        help_text="Every card that begins with them is blocked, also those of honest payers.",
    )
    email = forms.EmailField(label="Or e-mail address", required=False, max_length=EMAIL_MAX_LENGTH)
    domain = forms.CharField(
        label="Or a domain of e-mail addresses",
        required=False,
        max_length=EMAIL_MAX_LENGTH - 1,
        help_text="Such as shop.example, without what is before the @. Every address there is blocked.",
    )
    address = forms.GenericIPAddressField(
        label="Or the address of a program that calls",
        required=False,
        unpack_ipv4=True,
        help_text="Every charge that is requested from there is blocked; of an IPv6 address its whole /64 network.",
    )
    mode = forms.ChoiceField(choices=MODES)
    field_order = (*SUBJECTS, "mode", "merchant", "lasts")

    def clean_number(self) -> str:
        digits = self.cleaned_data["number"].replace(" ", "").replace("-", "")
        if digits:
            CARD_DIGITS(digits)
            if not luhn_valid(digits):
                raise ValidationError("This is no card number: its last digit does not fit the others.")
        return digits

    def clean_domain(self) -> str:
        domain = self.cleaned_data["domain"].strip().removeprefix("@").lower()
        if domain:
            validate_email(f"somebody@{domain}")
        return f"@{domain}" if domain else ""

    def clean(self) -> None:
        given = [bool(self.cleaned_data.get(name)) for name in SUBJECTS]
        if not self.errors and sum(given) != 1:
            raise ValidationError("Give what is to be blocked, in one of the first five fields only.")

    def block(self) -> Block:
        given = {name: self.cleaned_data[name] for name in SUBJECTS if self.cleaned_data[name]}
        match given:
            case {"number": number}:
                what = blocks.number_columns(number)
            case {"domain": domain}:
                what = {"email": domain}
            case {"address": address}:
                what = {"address": counted(address)}
            case _:
                what = given
        return self.block_of(what | {"livemode": self.cleaned_data["mode"] == "live"})


class SourceBlockForm(BlockForm):
    """A form that blocks what is known of `source` and its payer, or the caller's `address` if given, in its mode."""

    what = forms.ChoiceField(widget=forms.RadioSelect(attrs={"class": "radiolist"}))
    field_order = ("what", "merchant", "lasts")

    def __init__(
        self, data: Any, source: Source, address: str, merchants: QuerySet[Merchant], everywhere: bool
    ) -> None:
        super().__init__(data, merchants, everywhere)
        self.source, self.address = source, address
        what: Any = self.fields["what"]
        of_caller = [(ADDRESS, f"Every call from {address}")] if address else []
        what.choices = [*of_caller, *subjects_of(source)]
        self.initial = {"merchant": source.merchant_id, "what": next((value for value, _ in what.choices), None)}

    def block(self) -> Block:
        match self.cleaned_data["what"]:
            case "card":
                what = blocks.card_columns(self.source.card)
            case "bin":
                what = {"bin": self.source.card.bin}
            case "address":
                what = {"address": self.address}
            case email:
                what = {"email": email}
        return self.block_of(what | {"livemode": self.source.livemode})


def subjects_of(source: Source) -> Sequence[tuple[str, str]]:
    """Return what can be blocked of a source: its card and BIN, its payer's e-mail addresses and their domains."""
    card = getattr(source, "card", None)
    emails = blocks.emails_of(source)
    domains = sorted({f"@{email.partition('@')[2]}" for email in emails if email.partition("@")[2]})
    payer = [*((email, email) for email in emails), *((domain, f"Every address {domain}") for domain in domains)]
    if card is None:
        return payer
    return [(CARD, f"The card {card}"), *payer, (BIN, f"Every card that begins with {card.bin}")]
