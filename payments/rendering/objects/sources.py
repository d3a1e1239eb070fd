"""Sources as the API and the webhooks show them (contract, section 3)."""

from typing import Any

from payments import sourcetypes
from payments.models import Card, Source
from payments.models.charging.source import BRANDS, FUNDINGS
from payments.rendering.objects import member
from payments.rendering.objects.api_object import ApiObject, Member

# The card's address is shown as it was sent, with the members that it had.
CARD = ApiObject(
    "Card",
    "The details of a card, without its number and security code.",
    object=member.named("card"),
    id=member.own_id("card", "card_019aa3c5d1f27c3e9d0b5a8e4f6c2b12"),
    name=member.text("Full name of the cardholder.", "Juan dela Cruz"),
    last4=Member({"type": "string", "pattern": "^[0-9]{4}$"}, "Last four digits of the card number.", example="3055"),
    exp_month=member.text("Expiry month, as it was sent.", "12"),
    exp_year=Member({"type": "string", "pattern": "^[0-9]{4}$"}, "Expiry year.", example="2039"),
    address=Member("CardAddress", "", inlined=True),
    brand=member.choice(BRANDS, "Card scheme, by the prefix of the number; `unknown` if it names none.", "visa"),
    country=Member(
        {"type": "string", "pattern": "^([A-Z]{2}|unknown)$"},
        "Country of the issuer (ISO 3166), or `unknown`.",
        example="US",
    ),
    cvc_checked=member.choice(Card.CvcChecked.values, "The issuer's answer about the security code.", "unchecked"),
    checked=member.flag(
        "Whether a payment with the card's owner was ever approved. A kept card that was not is declined more often.",
        False,
        read="checked_at is not None",
    ),
    funding=member.choice(FUNDINGS, "Kind of funding.", "credit"),
    issuing_bank=member.text("The issuing bank's name, or `unknown`.", "Test Bank"),
)
BANK_ACCOUNT = ApiObject(
    "BankAccount",
    "The account behind a debit.",
    reference_id=member.text("Reference at the debit interface."),
    bank_type=member.text("The token's bank type."),
    bank_code=member.text("Code of the bank."),
    account_name=member.text("Name on the account."),
    account_number=member.text("Number of the account."),
    account_type=member.text("Kind of account."),
    expires_at=member.text("When the reference expires."),
    metadata=member.any_object("Further data.", required=False),
)
SOURCE_ID = "src_019aa3c5d1f27c3e9d0b5a8e4f6c2b11"
EXAMPLE_OWNER = {
    "billing": {
        "name": "Juan dela Cruz",
        "email": "juan@example.com",
        "line1": "12 Session Road",
        "city": "Baguio",
        "country": "PH",
        "zip_code": "2600",
    }
}
EXAMPLE_REDIRECT = {
    "success": "https://shop.example/thanks",
    "fail": "https://shop.example/sorry",
    "notify": "https://shop.example/hooks/kaha",
}


def _card(source: Source) -> Any:
    return getattr(source, "card", None)


# It shows a source that was read with its card (`select_related("card")`).
SOURCE = ApiObject(
    "Source",
    "A card, wallet or bank account that can be charged once, or any number of times if it is kept for a customer.",
    object=member.named("source"),
    id=member.own_id("src", SOURCE_ID),
    type=member.choice(sourcetypes.NAMES, "The way to pay.", sourcetypes.CARD),
    card=member.nested(CARD, "The card, of a source of type `card`.", required=False, read=_card, example=CARD.example),
    bank_account=Member(BANK_ACCOUNT, "The account, of a debit whose provider names it.", required=False),
    redirect=Member("Redirect", "Where the payer is sent back to.", required=False, example=EXAMPLE_REDIRECT),
    owner=Member("Owner", "The owner of the source.", required=False, example=EXAMPLE_OWNER),
    vaulted=member.flag("Whether the source is kept for a customer and may be charged again.", False),
    used=member.flag("Whether a charge has used the source or a customer keeps it.", False),
    livemode=member.livemode(),
    created_at=member.created(),
    updated_at=member.updated(),
    metadata=member.metadata(),
)
