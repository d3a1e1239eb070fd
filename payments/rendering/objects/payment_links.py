"""Payment links as the API and the webhooks show them (checkout law, section 4)."""

from typing import Any

from django.conf import settings

from payments.clock import seconds
from payments.hosts import LINKS
from payments.models import PaymentLink
from payments.rendering.objects import member
from payments.rendering.objects.api_object import ApiObject
from payments.rendering.objects.checkout import BRANDING, COUNTRIES, branding_of, line_item, ordered, types

SHORT = "4fGk9ZpQ2x"
LINK_ITEM = line_item(remaining=member.number("How many are left.", 48, read="get('remaining')"))


def link_url(link: PaymentLink) -> str:
    """Return the short address of a link's page."""
    root = f"https://{settings.LINKS_HOST}" if settings.LINKS_HOST else f"{settings.PUBLIC_URL}{LINKS}"
    return f"{root}/{link.short}"


def items_of(link: PaymentLink) -> list[dict[str, Any]]:
    """Return the items of a link, with what is left of each."""
    items = link.order["line_items"]
    return [item | {"remaining": left} for item, left in zip(items, link.remaining, strict=True)]


PAYMENT_LINK = ApiObject(
    "PaymentLink",
    "A page that sells the same items to many payers, until they are sold out.",
    object=member.named("payment_link"),
    id=member.own_id("plink", "plink_019aa3c5e2a47d10b1c6f0d2a3948591"),
    active=member.flag("Whether it can be paid.", True),
    allow_adjustable_quantity=member.flag(
        "Whether the payer chooses how many of each; if not, it is one of each.",
        True,
        read=ordered("allow_adjustable_quantity"),
    ),
    branding=member.nested(BRANDING, "How its page looks.", read=branding_of),
    created=member.number(
        "When it was made, in seconds since 1970.", 1_764_120_000, read="created_at", convert=seconds
    ),
    updated=member.number(
        "When it last changed, in seconds since 1970.", 1_764_120_000, read="updated_at", convert=seconds
    ),
    currency=member.text("ISO 4217 code, as it was sent.", "PHP", read=ordered("currency")),
    internal_name=member.text("What you call it; payers do not see it.", "Summer menu"),
    line_items=member.nested(
        LINK_ITEM, "What is sold; `quantity` is the stock.", many=True, read=items_of, example=[LINK_ITEM.example]
    ),
    livemode=member.livemode(),
    metadata=member.any_object("Data of the merchant's own.", {}, read="order.get('metadata') or {}"),
    payment_method_types=types(),
    phone_number_collection=member.flag(
        "Whether a number is asked for.", False, read=ordered("phone_number_collection")
    ),
    require_auth=member.flag("Whether cards go through 3-D Secure.", True, read=ordered("require_auth")),
    url=member.web_address("Its page, for your payers.", f"https://pay.example/links/{SHORT}", read=link_url),
    description=member.or_null(member.text("What it is for.", read=ordered("description"))),
    expiry=member.or_null(member.text("Its last day, `MM/DD/YYYY`.", read=ordered("expiry"))),
    maximum_payments=member.or_null(member.number("How often it can be paid.", read=ordered("maximum_payments"))),
    redirect_url=member.or_null(member.web_address("Where payers go after paying.", read=ordered("redirect_url"))),
    shipping_address_collection=member.or_null(
        member.nested(COUNTRIES, "Where the merchant ships.", read=ordered("shipping_address_collection"))
    ),
)
