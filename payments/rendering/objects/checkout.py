"""Checkout sessions as the API and the webhooks show them (checkout law, sections 2 and 3)."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from payments import sourcetypes
from payments.hosts import CHECKOUT, REQUESTS
from payments.models import Checkout
from payments.rendering.brand import COLOUR, OWN_ACCENT, OWN_COLOUR, own_branding, with_own_pictures
from payments.rendering.objects import member
from payments.rendering.objects.api_object import ApiObject, Member
from payments.rendering.objects.charges import CHARGE

SESSION_ID = "cs_019aa3c5e2a47d10b1c6f0d2a3948590"
STATUSES = [state.value for state in Checkout.State if state != Checkout.State.PAYING]


def line_item(**own: Member) -> ApiObject:
    """Return the object of a line item, with the members that a product has of its own."""
    return ApiObject(
        "LinkItem" if own else "LineItem",
        "What is sold: a unit amount, and how many of it.",
        name=Member({"type": "string"}, "Name of the item.", "Halo-halo", read="get('name')"),
        amount=member.number("Amount of one, in the smallest unit.", 12_500, read="get('amount')"),
        quantity=member.number("How many.", 2, read="get('quantity')"),
        description=member.or_null(member.text("More about it.", read="get('description')")),
        image=member.or_null(member.web_address("Its picture.", read="get('image')")),
        **own,
    )


LINE_ITEM = line_item()
_COLOUR_FORM = {"type": "string", "pattern": f"^{COLOUR.pattern}$"}


def _colour(name: str, own: str) -> Member:
    theirs = {"primary_color": "brand_color", "secondary_color": "accent_color"}[name]
    meaning = f"Given, else the merchant's `{theirs}`, else kaha's."
    return Member(_COLOUR_FORM, meaning, example=own, read=f"get({name!r})")


def branding_of(row: Any) -> dict[str, Any]:
    """Return what BRANDING shows of a checkout, a link or a request; one that was given replaces the merchant's."""
    given, merchant = row.order.get("branding") or {}, row.merchant
    merchants = own_branding(merchant) if merchant.logo or merchant.icon else merchant.branding
    shown = with_own_pictures(given, merchants) if given else merchants
    primary = str(given.get("primary_color") or merchants.get("brand_color"))
    secondary = str(given.get("secondary_color") or merchants.get("accent_color"))
    return {
        "icon": shown.get("icon"),
        "logo": shown.get("logo"),
        "use_logo": shown.get("use_logo") is True,
        "primary_color": primary if COLOUR.fullmatch(primary) else OWN_COLOUR,
        "secondary_color": secondary if COLOUR.fullmatch(secondary) else OWN_ACCENT,
    }


BRANDING = ApiObject(
    "CheckoutBranding",
    "How the payer's page looks.",
    icon=member.or_null(member.web_address("A small square picture.", read="get('icon')")),
    logo=member.or_null(member.web_address("The logo.", read="get('logo')")),
    use_logo=member.flag(
        "Whether the logo is shown in place of the icon.",
        False,
        read="get('use_logo')",
    ),
    primary_color=_colour("primary_color", OWN_COLOUR),
    secondary_color=_colour("secondary_color", OWN_ACCENT),
)
CONTACT = ApiObject(
    "CheckoutMerchant",
    "The merchant, as payers see it.",
    name=member.text("Its name.", "Halo-Halo Haven", read=lambda merchant: merchant.title),
    support_email=member.or_null(member.text("Where payers write to.", "help@shop.example")),
    support_phone=member.or_null(member.text("Where payers call.", "+63 2 8123 4567")),
)
ADDRESS = ApiObject(
    "CheckoutAddress",
    'An address that the payer gave; `""` for what was not given, and null for no second line.',
    **{
        name: member.text(text, read=lambda given, name=name: given.get(name) or "")
        for name, text in (
            ("name", "Name at this address."),
            ("line1", "First line."),
            ("barangay", "Barangay."),
            ("city", "City."),
            ("state", "Province or state."),
            ("country", "Country (ISO 3166)."),
            ("postal_code", "Postal code."),
        )
    },
    line2=member.or_null(member.text("Second line.", read=lambda given: given.get("line2"))),
    zip_code=member.text("The postal code once more.", read=lambda given: given.get("postal_code") or ""),
)
COUNTRIES = ApiObject(
    "ShippingAddressCollection",
    "The countries to which the merchant ships; the payer's page then asks for an address.",
    allowed_countries=Member(
        {"type": "array", "items": {"type": "string", "pattern": "^[A-Z]{2}$"}},
        "Countries (ISO 3166).",
        read=lambda given: given["allowed_countries"],
        example=["PH"],
    ),
)


def ordered(name: str) -> str:
    """Return how a member of the order is read."""
    return f"order.get({name!r})"


def _payers(name: str) -> str:
    """Return how what the payer gave is read, else what the order gave."""
    return f"payer.get({name!r}) or row.order.get({f'customer_{name}'!r})"


def payment_url(checkout: Checkout) -> str:
    """Return the address of the payer's page of a checkout."""
    is_request = checkout.kind == Checkout.Kind.REQUEST
    host, path = (settings.REQUESTS_HOST, REQUESTS) if is_request else (settings.CHECKOUT_HOST, CHECKOUT)
    return f"{f'https://{host}' if host else f'{settings.PUBLIC_URL}{path}'}/{checkout}"


def status(checkout: Checkout) -> str:
    """Return the state as the API shows it: while an attempt is open, a checkout is unpaid."""
    return Checkout.State.UNPAID.value if checkout.state == Checkout.State.PAYING else str(checkout.state)


def _address(kind: str) -> Member:
    given = member.nested(
        ADDRESS, f"The {kind} address, as the payer gave it.", read=f"payer.get({kind!r})", example=None
    )
    return member.or_null(given)


def types() -> Member:
    """Return the member with the ways to pay."""
    form = {"type": "array", "items": {"type": "string", "enum": list(sourcetypes.NAMES)}}
    return Member(form, "The ways to pay that the page offers.", ["card"], read=ordered("payment_method_types"))


# It shows a checkout with its merchant; `paid_by` is the charge that paid or holds its amount, or None.
SESSION = ApiObject(
    "CheckoutSession",
    "An amount that one payer pays once, on a page of kaha.",
    object=member.named("checkout.session"),
    id=member.own_id("cs", SESSION_ID),
    amount_subtotal=member.number("The sum of the items.", 25_000, read="amount"),
    amount_total=member.number("What the payer pays, in the currency's smallest unit.", 25_000, read="amount"),
    branding=member.nested(BRANDING, "How the payer's page looks.", read=branding_of),
    billing_address_collection=member.choice(
        ["auto", "required"],
        "Whether a billing address is required.",
        "auto",
        read=ordered("billing_address_collection"),
    ),
    cancel_url=member.web_address_template(
        "Where the payer goes who does not pay.", "https://shop.example/cart", read=ordered("cancel_url")
    ),
    created_at=member.created(),
    expires_at=member.moment("When it can no longer be paid.", "2026-11-22T01:43:00.123456Z"),
    last_updated=member.moment("Time of the last change.", member.EXAMPLE_MOMENT, read="updated_at"),
    currency=member.text("ISO 4217 code, as it was sent.", "PHP", read=ordered("currency")),
    customer_name_collection=member.flag(
        "Whether a name is asked for.", False, read=ordered("customer_name_collection")
    ),
    phone_number_collection=member.flag(
        "Whether a number is asked for.", False, read=ordered("phone_number_collection")
    ),
    line_items=member.nested(
        LINE_ITEM, "What is sold.", many=True, read="order.get('line_items') or []", example=[LINE_ITEM.example]
    ),
    livemode=member.livemode(),
    locale=member.choice(["en", "fil"], "Language of the page.", "en", read=ordered("locale")),
    merchant=member.nested(CONTACT, "The merchant, as payers see it."),
    metadata=member.any_object("Data of the merchant's own.", {}, read="order.get('metadata') or {}"),
    mode=member.choice(Checkout.Mode.values, "What is done with the card or the amount.", "payment"),
    payment_method_types=types(),
    payment_status=member.choice(STATUSES, "How far the payment is.", "unpaid", read=status),
    payment_url=member.web_address("The payer's page.", f"https://pay.example/checkout/{SESSION_ID}", read=payment_url),
    require_auth=member.flag("Whether cards go through 3-D Secure.", True, read=ordered("require_auth")),
    submit_type=member.choice(
        ["pay", "book", "donate", "send"], "The verb on the button.", "pay", read=ordered("submit_type")
    ),
    success_url=member.web_address_template(
        "Where the payer goes after paying.", "https://shop.example/thanks", read=ordered("success_url")
    ),
    bank_code=member.or_null(member.text("A bank that is chosen already.", read=ordered("bank_code"))),
    billing=_address("billing"),
    client_reference_id=member.or_null(member.text("The merchant's own reference.")),
    customer=member.or_null(member.id_of("cus", "The customer.", read="customer_id")),
    customer_email=member.or_null(member.text("E-mail address of the payer.", read=_payers("email"))),
    customer_name=member.or_null(member.text("Name of the payer.", read=_payers("name"))),
    customer_phone=member.or_null(member.text("Phone number of the payer.", read=_payers("phone"))),
    description=member.or_null(member.text("What it is for.", read=ordered("description"))),
    payment_details=member.or_null(member.nested(CHARGE, "The charge, as it is now.", read="paid_by", example=None)),
    shipping=_address("shipping"),
    shipping_address_collection=member.or_null(
        member.nested(COUNTRIES, "Where the merchant ships.", read=ordered("shipping_address_collection"), example=None)
    ),
)


def total_of(items: list[Mapping[str, Any]]) -> int:
    """Return the sum of the items, in the smallest unit of their currency."""
    return sum(item["amount"] * item["quantity"] for item in items)
