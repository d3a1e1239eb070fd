"""The forms of a merchant: the one that creates it, and that of its page."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.validators import RegexValidator
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from payments.admin.framework.formats import NOTHING
from payments.admin.framework.reason_form import OnceForm, TextForm, reason_field
from payments.domain.merchants.merchants import check_statement_descriptor
from payments.models import Merchant
from payments.rendering.brand import brand_of, text_colour

COLOUR_INPUT = forms.TextInput({"placeholder": "#1a73e8", "size": 8})


class NewMerchantForm(OnceForm):
    title = forms.CharField(max_length=100)
    account_name = forms.CharField(max_length=100, required=False, help_text="Empty: the title.")
    statement_descriptor = forms.CharField(
        max_length=100,
        required=False,
        validators=[check_statement_descriptor],
        help_text="What payers read on their card statement. Empty: what is plain of the account name.",
    )


def _colour_field(label: Any) -> forms.CharField:
    colour = RegexValidator(r"\A#[0-9a-fA-F]{6}\Z", _("Write a colour as #1a73e8."))
    return forms.CharField(
        label=label, required=False, max_length=7, validators=[colour], widget=COLOUR_INPUT, show_hidden_initial=True
    )


class MerchantForm(TextForm, forms.ModelForm):
    """The profile. The branding is what `/v2/me` shows, and how the pages of payers look.

    The page sends along what it showed of the branding, which an upload or another form changes meanwhile.
    """

    statement_descriptor = forms.CharField(
        label=_("Statement descriptor"), max_length=100, validators=[check_statement_descriptor]
    )
    use_logo = forms.BooleanField(
        label=_("Show the logo"),
        required=False,
        show_hidden_initial=True,
        help_text=_("On pages of payers, in place of the icon."),
    )
    brand_color, accent_color = _colour_field(_("Brand colour")), _colour_field(_("Accent colour"))
    reason = reason_field()

    branding_fields = ("use_logo", "brand_color", "accent_color")

    class Meta:
        model = Merchant
        fields = (
            *("title", "account_name", "statement_descriptor", "status", "business_address"),
            *("support_email", "support_phone", "send_receipts", "kept_bodies"),
        )
        labels = {
            "support_email": _("Support e-mail"),
            "support_phone": _("Support telephone"),
            "send_receipts": _("Receipts"),
            "kept_bodies": _("Bodies of requests"),
        }
        help_texts = {
            "kept_bodies": _(
                "The log of requests keeps for 30 days what programs sent and were answered: names, amounts, states "
                "and IDs. Card data, keys and texts that people write are left out."
            ),
            "support_email": _("Payers see it on their pages and in messages, and answers to these go there."),
            "send_receipts": _(
                "Payers with an e-mail address get one when a payment is captured or a refund is made. "
                "In live mode only where this installation has a mail server (EMAIL_URL)."
            ),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = {name: self.instance.branding.get(name) for name in self.branding_fields}
        self.initial = {**{name: value for name, value in known.items() if value is not None}, **self.initial}

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        self.instance.branding = self.branding_on(self.instance.branding)
        return cleaned

    def branding_on(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Return a stored branding with what the person changed, and nothing else, in its place."""
        changed = {name: self.cleaned_data.get(name) for name in self.branding_fields if name in self.changed_data}
        return {name: value for name, value in {**stored, **changed}.items() if value or name not in changed}


def brand_preview(merchant: Merchant) -> SafeString | str:
    """Return a button as pages of payers show it; the style sheet cannot know its colour, so it is a drawing."""
    brand = brand_of(merchant.branding)
    if not brand.secondary:
        return NOTHING
    return format_html(
        '<svg class="brand-preview" width="120" height="36" role="img" aria-label="A button in the merchant\'s colour">'
        '<rect width="120" height="36" rx="6" fill="{}"/>'
        '<text x="60" y="23" text-anchor="middle" font-size="14" fill="{}">Pay</text></svg>',
        brand.secondary,
        text_colour(brand.secondary),
    )
