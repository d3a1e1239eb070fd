"""The objects that the API sends (contract, section 3). For documentation only: `payments.rendering` makes them."""

from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from payments import sourcetypes
from payments.api.schema.members import (
    Member,
    SerializerClass,
    any_object,
    choice,
    created,
    currency,
    echo,
    flag,
    id_form,
    livemode,
    metadata,
    moment,
    named,
    number,
    own_id,
    shown,
    text,
    updated,
    web_address,
)
from payments.api.serializers import AddressInput, CardInput, OwnerInput, RedirectInput
from payments.domain.cards.card_data import BRANDS, FUNDINGS
from payments.domain.charging.failure_data import REASONS
from payments.models import Card, Charge, Merchant, Refund

CARD = shown(
    "Card",
    "What is shown of a card; its number and security code never are.",
    object=named("card"),
    id=own_id("card"),
    name=text("Full name of the cardholder."),
    last4=Member({"type": "string", "pattern": "^[0-9]{4}$"}, "Last four digits of the card number."),
    exp_month=text("Expiry month, as it was sent."),
    exp_year=Member({"type": "string", "pattern": "^[0-9]{4}$"}, "Expiry year."),
    **echo(CardInput, *(name for name in CardInput().fields if name.startswith("address_"))),
    brand=choice(BRANDS, "Card scheme, as far as the number tells."),
    country=Member(
        {"type": "string", "pattern": "^([A-Z]{2}|unknown)$"}, "Country of the issuer (ISO 3166), or `unknown`."
    ),
    cvc_checked=choice(Card.CvcChecked.values, "What the issuer said about the security code."),
    funding=choice(FUNDINGS, "Where the money comes from."),
    issuing_bank=text("The issuing bank's name, or `unknown`."),
)
BANK_ACCOUNT = shown(
    "BankAccount",
    "The account behind a debit.",
    reference_id=text("Reference by which the debit interface knows it."),
    bank_type=text("The token's bank type."),
    bank_code=text("Code of the bank."),
    account_name=text("Name on the account."),
    account_number=text("Number of the account."),
    account_type=text("Kind of account."),
    expires_at=text("When the reference expires."),
    metadata=metadata(),
)
REDIRECT = shown("Redirect", "Where the payer is sent back to, and the URL to notify.", **echo(RedirectInput))
ADDRESS = shown("Address", "A billing or shipping address.", **echo(AddressInput))
OWNER = shown(
    "Owner",
    "The owner of a source.",
    billing=ADDRESS(required=False, help_text="Billing address."),
    shipping=ADDRESS(required=False, help_text="Shipping address."),
    **echo(OwnerInput, "name", "address_country"),
)
SOURCE = shown(
    "Source",
    "A card, wallet or bank account that can be charged once, or often if it is kept for a customer.",
    object=named("source"),
    id=own_id("src"),
    type=choice(sourcetypes.NAMES, "The way to pay."),
    card=CARD(required=False, help_text="The card, of a source of type `card`."),
    bank_account=BANK_ACCOUNT(required=False, help_text="The account, of a debit that tells it."),
    redirect=REDIRECT(required=False, help_text="Where the payer is sent back to."),
    owner=OWNER(required=False, help_text="Whom it belongs to."),
    vaulted=flag("Whether it is kept for a customer, and may be charged again."),
    used=flag("Whether a charge or a customer has taken it."),
    livemode=livemode(),
    created_at=created(),
    updated_at=updated(),
    metadata=metadata(),
)
CHARGE_SOURCE = shown(
    "ChargeSource",
    "The source of a charge, with what the charge adds to it.",
    SOURCE,
    require_auth=flag("As of the charge."),
)
REFUND = shown(
    "Refund",
    "Money on its way back to the payer.",
    object=named("refund"),
    id=own_id("re"),
    amount=number("How much, in the currency's smallest unit."),
    charge=Member(id_form("ch"), "The charge that it gives back."),
    currency=currency(),
    reason=text("Why, in your words."),
    status=choice(Refund.Status.values, "`pending` until the provider has paid it, then `succeeded` or `failed`."),
    livemode=livemode(),
    created_at=created(),
    updated_at=updated(),
)
ACTION = shown(
    "Action",
    "What the payer has to do before the charge goes on.",
    type=choice(["redirect_to_url", "verify_otp"], "Send the payer to `url`, or ask for a one-time PIN."),
    url=web_address("The page on which the payer acts."),
    confirmation_id=text("Names the confirmation for `verify`; present with `verify_otp`.", required=False),
)
PROVIDER_RESPONSE = shown(
    "ProviderResponse",
    "What the provider said, in its own words.",
    code=text("The provider's code."),
    message=text("The provider's message."),
    logref=text("The provider's reference of the payment."),
    links=Member({"type": "array", "items": {"type": "object"}}, "Always empty."),
)
FAILURE_DATA = shown(
    "FailureData",
    "Why a charge failed.",
    code=choice(REASONS, "For programs."),
    reason=text("For people: what happened."),
    next_steps=text("For people: what to do."),
    provider_response=PROVIDER_RESPONSE(help_text="What the provider said."),
)
CHARGE = shown(
    "Charge",
    "Money asked of a payer.",
    object=named("charge"),
    id=own_id("ch"),
    amount=number("How much was asked, in the currency's smallest unit."),
    amount_captured=number("How much of it was taken."),
    amount_refunded=number("How much of that was given back or is on its way."),
    authorized=flag("Whether money is held now and can be captured."),
    captured=flag("Whether money was taken."),
    currency=currency(),
    statement_descriptor=text("Text on the payer's statement."),
    description=text("What it is for."),
    source=CHARGE_SOURCE(help_text="What was charged."),
    require_auth=flag("Whether the payer had to authenticate (3-D Secure), where the card supports it."),
    owner=OWNER(required=False, help_text="The source's owner again."),
    action=ACTION(required=False, help_text="What the payer has to do now."),
    refunds=REFUND(many=True, help_text="Its refunds, newest first."),
    status=choice(Charge.Status.values, "Where it stands."),
    livemode=livemode(),
    created_at=created(),
    updated_at=updated(),
    metadata=metadata(),
    failure_data=FAILURE_DATA(required=False, help_text="Why it failed, if it did."),
)
# A room above may add the objects that its events show (customers does).
EVENT_OBJECTS: dict[str, SerializerClass] = {"charge": CHARGE, "refund": REFUND, "source": SOURCE}
EVENT_REQUEST = shown(
    "EventRequest",
    "The request that caused an event; empty where nobody's request did.",
    id=text("Its `Request-Id`.", required=False),
    idempotency_key=text("Its idempotency key.", required=False),
)


@extend_schema_field(
    PolymorphicProxySerializer("EventObject", lambda: list(EVENT_OBJECTS.values()), resource_type_field_name=None)
)
class EventObject(serializers.Field[Any, Any, Any, Any]):
    """Any object that events tell of."""


EVENT_DATA = shown(
    "EventData",
    "What an event shows.",
    object=EventObject(help_text="The object as it was at the event."),
)
EVENT = shown(
    "Event",
    "One change of one object.",
    id=own_id("evt"),
    object=named("event"),
    type=text("What happened, such as `charge.succeeded`."),
    created=number("When, in seconds since 1970."),
    created_at=moment("When."),
    livemode=livemode(),
    data=EVENT_DATA(help_text="The object that changed."),
    request=EVENT_REQUEST(help_text="What caused it."),
    sequence=Member({"type": "integer", "minimum": 1}, "Counts the events of one object, from 1 and without gaps."),
)
ACCOUNT = shown(
    "Account",
    "The merchant that a key belongs to.",
    object=named("organization"),
    id=own_id("mer"),
    title=text("What you are called here."),
    account_name=text("Your legal name."),
    statement_descriptor=text("Text on the payer's statement where a charge says none."),
    pk_test_key=text("Your publishable test key."),
    pk_live_key=text("Your publishable live key."),
    sk_test_key=text("Your secret test key, all but the last four characters masked."),
    sk_live_key=text("Your secret live key, all but the last four characters masked."),
    branding=any_object("How your pages look."),
    status=choice([value for value, _ in Merchant._meta.get_field("status").flatchoices], "Whether you are served."),
    business_address=any_object("Where you are."),
    payment_method_settings=any_object("By source type, whether it is `enabled` in this mode; others are."),
    rates=any_object(
        "What captured charges cost you, by source type and currency: `basis_points` of the amount (350 is 3.5 %) and "
        "a `fixed` amount in the currency's smallest unit. What is not named costs nothing."
    ),
    payout_settings=any_object("How you are paid out."),
    metadata=any_object("Further data."),
    created_at=created(),
    updated_at=updated(),
)
CLOCK = shown(
    "Clock",
    "Time that has passed for your test objects.",
    object=named("clock"),
    livemode=flag("Always `false`."),
    advanced_seconds=number("How many seconds have passed."),
)
BALANCE_AMOUNT = shown(
    "BalanceAmount",
    "An amount of one currency.",
    amount=Member({"type": "integer"}, "In the currency's smallest unit; below zero where you owe it."),
    currency=currency(),
)
BALANCE = shown(
    "Balance",
    "What is yours, in each currency that you ever used.",
    object=named("balance"),
    livemode=flag("Whether it is real money."),
    available=BALANCE_AMOUNT(many=True, help_text="Captured and settled."),
    pending=BALANCE_AMOUNT(many=True, help_text="Captured, to be settled after the end of the day (UTC)."),
    held=BALANCE_AMOUNT(many=True, help_text="Held, and not captured yet; fees are taken off with the capture."),
)
NOTHING = {"type": "object", "maxProperties": 0}


def page_of(item: SerializerClass) -> SerializerClass:
    """The envelope of a list of `item`."""
    name = item.__name__.removesuffix("Serializer")
    envelope = shown(
        f"{name}List",
        "A page of a list, newest first.",
        object=named("list"),
        data=item(many=True, help_text="At most `limit` objects."),
        next=text("Path of the next page, every filter kept; absent on the last page.", required=False),
    )
    # drf-spectacular would take the envelope for the item of a list.
    return extend_schema_serializer(many=False)(envelope)
