"""The forms by which links, requests and sessions are made; their checks are those of the API."""

from typing import Any, Self, cast

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import ValidationError as Refused

from customers.domain import checkout as customers
from customers.domain.checkout import KnownCustomer
from payments import sourcetypes
from payments.admin.form_fields import MODE_CHOICES, DayField, LongSelect, WholeNumberField
from payments.admin.framework.reason_form import RowIdField, TextForm
from payments.admin.operators.pages import AmountField
from payments.api.validation.checkout import ITEMS_MAX, CheckoutInput, SessionInput
from payments.api.validation.fields import Email, StrictString
from payments.api.validation.payment_links import LinkInput
from payments.api.validation.payment_requests import RequestInput
from payments.domain.catalogue.refusal_texts import translated
from payments.domain.checkout import by_form, links, requests, sessions
from payments.domain.checkout.verbs import LINK, REQUEST
from payments.domain.merchants import terms
from payments.domain.merchants.merchants import MODES
from payments.domain.shared.caller import Caller
from payments.domain.shared.errors import PaymentError
from payments.ids import new_id
from payments.models import AMOUNT_MAX, Charge, Merchant, PaymentRequest
from payments.money import CURRENCIES, DEFAULT_CURRENCY
from payments.pages.checkout.link import show_offer
from payments.pages.checkout.views import ask

# Empty rows for items, at first and each time that somebody asks for more.
ROWS = 2
CONTACT = ("email", "name", "phone")
GROUPS = {
    sourcetypes.Means.CARD: _("Cards"),
    sourcetypes.Means.WALLET: _("E-wallets"),
    sourcetypes.Means.SCHEME: _("Transfers and QR"),
    sourcetypes.Means.BANK: _("Banks"),
}
TICKS = forms.CheckboxSelectMultiple({"class": "radiolist"})


def _text(label: Any, help_text: Any = "", *, required: bool = False, rows: int = 0) -> forms.CharField:
    widget = forms.Textarea({"rows": rows, "class": "vLargeTextField"}) if rows else forms.TextInput
    return forms.CharField(label=label, required=required, help_text=help_text, widget=widget)


class ItemForm(TextForm, forms.Form):
    """One thing that is sold."""

    name = forms.CharField(label=_("Item"))
    quantity = WholeNumberField(label=_("Quantity"), min_value=1, initial=1)

    def __init__(self, *args: Any, currency: str, **named: Any) -> None:
        super().__init__(*args, **named)
        self.fields["amount"] = AmountField(currency, AMOUNT_MAX, label=_("Price of one"))
        self.order_fields(["name", "amount"])


class ItemRows(forms.BaseFormSet):
    """The rows of items, of which all but the first may be left empty."""

    def initial_form_count(self) -> int:
        return 0 if self.is_bound else super().initial_form_count()


Items = forms.formset_factory(ItemForm, ItemRows, extra=ROWS, min_num=1, max_num=ITEMS_MAX, absolute_max=ITEMS_MAX)


class NewForm(TextForm, forms.Form):
    """A form whose fields have the names of members of the API's `body`."""

    title: Any
    permission = REQUEST.permission
    about: Any
    checks: type[CheckoutInput]
    create: Any
    quantity_label: Any = _("Quantity")

    payment_method_types = forms.MultipleChoiceField(label=_("Ways to pay"), widget=TICKS)
    currency = forms.ChoiceField(
        label=_("Currency"), choices=[(code, code) for code in sorted(CURRENCIES)], widget=LongSelect
    )
    mode = forms.ChoiceField(label=_("Mode"), choices=MODE_CHOICES)
    row_id = RowIdField()

    def __init__(self, merchant: Merchant, data: Any = None, initial: Any = None, items: Any = None) -> None:
        super().__init__(data, initial=initial)
        self.merchant = merchant
        cast(forms.MultipleChoiceField, self.fields["payment_method_types"]).choices = self._ways()
        self.order_fields([name for name in self.fields if name not in NewForm.base_fields])
        currency = self["currency"].data if data else self["currency"].initial
        options = {"currency": currency if currency in CURRENCIES else DEFAULT_CURRENCY}
        self.items = Items(data, prefix="item", initial=items, form_kwargs=options)
        for row in self.items:
            row.fields["quantity"].label = self.quantity_label

    def _ways(self) -> list[Any]:
        """Return the ways to pay that may be taken, in groups."""
        taken = [sourcetypes.shown(name) for name in sourcetypes.named_once(filter(self._may_take, sourcetypes.NAMES))]
        groups = [
            (label, [(way.name, way.label) for way in taken if way.kind == means]) for means, label in GROUPS.items()
        ]
        return [group for group in groups if group[1]]

    @classmethod
    def blank(cls, merchant: Merchant, mode: str) -> Self:
        """Return the form as it is first: in the merchant's currency, with all ways to pay that it has."""
        newest = Charge.objects.of(merchant.id, MODES[mode]).order_by("-id")
        currency = newest.values_list("currency", flat=True).first() or DEFAULT_CURRENCY
        form = cls(merchant, initial={"mode": mode, "currency": currency})
        form.initial["payment_method_types"] = [name for name in sourcetypes.NAMES if form._may_take(name, mode)]
        return form

    def with_more_rows(self) -> Self:
        """Return the form with what was typed so far, and empty rows below."""
        rows = [{each.name: each.data for each in row} for row in self.items]
        return type(self)(self.merchant, initial={each.name: each.data for each in self}, items=rows)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if not self.items.is_valid():
            raise ValidationError(_("One of the items is not right."))
        if not self.errors:
            try:
                self.order = self.checks().run_validation(self.body())
            except Refused as refused:
                for name, faults in cast(dict[str, Any], refused.detail).items():
                    self._refuse(name, " ".join(_words_of(faults)))
        return cleaned

    def body(self) -> dict[str, Any]:
        """Return the body by which a program would make the same."""
        filled = [row.cleaned_data for row in self.items if row.cleaned_data]
        given = {name: value for name, value in self.cleaned_data.items() if name not in ("mode", "row_id")}
        return {name: value for name, value in given.items() if value not in ("", None, [])} | {"line_items": filled}

    def make(self) -> tuple[str, bool] | None:
        """Make what was asked for; return its ID, and whether it is new; None after a refusal, which the form shows."""
        livemode, form_id = MODES[self.cleaned_data["mode"]], self.cleaned_data["row_id"]
        try:
            return by_form.make(type(self).create, self.merchant, livemode, self.order, form_id)
        except PaymentError as refusal:
            self._refuse((refusal.param or "").partition("[")[0], str(refusal))
            return None

    def show(self, request: HttpRequest) -> HttpResponse:
        """Return the payer's page of what is asked for."""
        raise NotImplementedError

    @property
    def caller(self) -> Caller:
        return Caller(self.merchant.id, MODES[self.cleaned_data["mode"]])

    def _may_take(self, name: str, *modes: str) -> bool:
        methods = self.merchant.payment_method_settings
        return any(terms.is_enabled(methods, name, MODES[mode]) for mode in modes or MODES)

    def _refuse(self, name: str, words: str) -> None:
        self.add_error(name if name in self.fields else None, translated(words))


def _words_of(faults: Any) -> list[str]:
    """Return the faults that the API found in a member, in words."""
    if isinstance(faults, dict):
        return [words for each in faults.values() for words in _words_of(each)]
    return [words for each in faults for words in _words_of(each)] if isinstance(faults, list) else [str(faults)]


class LinkForm(NewForm):
    """A link."""

    title, permission = _("New payment link"), LINK.permission
    about = _("A page that sells to any number of payers while there is something left. Send its address, or print it.")
    checks, create = LinkInput, links.create
    quantity_label = _("In stock")

    internal_name = _text(_("Name"), _("What you call it. Payers do not see it."), required=True)
    description = _text(_("What it is for"), _("Payers see it above the items."), rows=2)
    allow_adjustable_quantity = forms.BooleanField(
        label=_("Payers choose how many"), required=False, help_text=_("Otherwise each payer buys one of each item.")
    )
    expiry = DayField(label=_("Last day"), required=False, help_text=_("Empty: it has none."))
    maximum_payments = WholeNumberField(
        label=_("How often it can be paid"), required=False, help_text=_("Empty: until it is sold out.")
    )

    def body(self) -> dict[str, Any]:
        day = self.cleaned_data["expiry"]
        return super().body() | ({"expiry": f"{day:%m/%d/%Y}"} if day else {})

    def show(self, request: HttpRequest) -> HttpResponse:
        return show_offer(request, links.new_link(self.caller, self.merchant, self.order))


class InvoiceInput(RequestInput):
    """An invoice to a customer of whom the e-mail address is known, and maybe more."""

    customer = None  # type: ignore[assignment]
    customer_email = Email()
    customer_name = StrictString(max_length=50, required=False)
    customer_phone = StrictString(min_length=5, max_length=25, required=False)


def _create_request(caller: Caller, merchant: Merchant, order: dict[str, Any], render: Any) -> Any:
    """Create a request, and its customer where there is none with the address."""
    email, name, phone = (order.get(f"customer_{each}", "") for each in CONTACT)
    asked = {member: value for member, value in order.items() if not member.startswith("customer")}
    asked["customer"] = customers.at_address(caller, email, name, phone)
    return requests.create(caller, merchant, asked, render)


class RequestForm(NewForm):
    """An invoice."""

    title = _("New payment request")
    about = _("An invoice to one customer, who gets a message with the page to pay on. Open ones are reminded of.")
    checks, create = InvoiceInput, _create_request

    customer_email = forms.EmailField(
        label=_("E-mail address"),
        help_text=_("A customer of yours with this address gets it; otherwise a new one is made."),
    )
    customer_name = _text(_("Name"), _("Of a new customer. The invoice has it."))
    customer_phone = _text(_("Telephone"), _("Of a new customer, for SMS."))
    message = _text(_("Message"), _("What you say to the customer."), rows=3)
    delivery_methods = forms.MultipleChoiceField(
        label=_("Sent by"), choices=[("email", _("E-mail")), ("sms", "SMS")], initial=["email"], widget=TICKS
    )

    def show(self, request: HttpRequest) -> HttpResponse:
        given = {name: self.order.get(f"customer_{name}", "") for name in CONTACT}
        customer = KnownCustomer(id=new_id(), locale="", **given)
        checkout = requests.new_request(self.caller, self.merchant, customer, self.order)
        # The number follows those that the customer has.
        PaymentRequest(checkout=checkout, series="00000000", place=1)
        return ask(request, checkout)


class SessionForm(NewForm):
    """A session."""

    title = _("New checkout")
    about = _("A page that one payer pays once, within 24 hours. Send its address by your own message.")
    checks, create = SessionInput, sessions.create

    description = _text(_("What it is for"), _("The payer sees it."))
    client_reference_id = _text(_("Your reference"), _("Such as the number of an order."))
    customer_name = _text(_("Payer's name"))
    customer_email = forms.EmailField(
        label=_("Payer's e-mail address"), required=False, help_text=_("For the receipt.")
    )
    success_url = forms.URLField(
        label=_("Your page"),
        assume_scheme="https",
        help_text=_("Where the payer goes afterwards. Without one, make a link that can be paid once."),
    )

    def body(self) -> dict[str, Any]:
        return super().body() | {"cancel_url": self.cleaned_data["success_url"]}

    def show(self, request: HttpRequest) -> HttpResponse:
        return ask(request, sessions.new_session(self.caller, self.merchant, self.order))
